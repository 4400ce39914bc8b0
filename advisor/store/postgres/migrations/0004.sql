-- A fleet: pairs that give way, clocks that are set back, who looks next, and how many attempts there were.

-- A pair that gives way to a user waits before its next attempt, longer each time: else it would be due
-- first again as soon as its host is looked at, and others of that host would never have their turn.
ALTER TABLE advisor.fleet_pairs
    ADD COLUMN gave_way integer NOT NULL DEFAULT 0, -- in succession, since the last success
    ADD COLUMN gave_way_s double precision;

-- How many attempts ended so: whoever asks for that again and again does not count them all each time.
CREATE TABLE advisor.fleet_outcomes (
    outcome text PRIMARY KEY,
    attempts bigint NOT NULL
);
INSERT INTO advisor.fleet_outcomes
    SELECT outcome, count(*) FROM advisor.fleet_attempts WHERE outcome IS NOT NULL GROUP BY outcome;
GRANT SELECT ON advisor.fleet_outcomes TO advisor_reader;

-- Last in a transaction: who counts is waited for by others.
CREATE FUNCTION advisor.fleet_count(its_outcome text, more bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO advisor.fleet_outcomes AS o VALUES (its_outcome, more)
        ON CONFLICT (outcome) DO UPDATE SET attempts = o.attempts + excluded.attempts
$$;
REVOKE ALL ON FUNCTION advisor.fleet_count FROM PUBLIC;

-- As in 0002.
CREATE OR REPLACE FUNCTION advisor.fleet_end(
    attempt bigint, its_outcome text, its_message text, its_moved_bytes double precision,
    its_rate_bps double precision, its_rtt_s double precision, its_news text, its_checks integer,
    its_session text, its_stored_source text, its_stored_destination text,
    down_host text,     -- which of the two could not be reached; NULL for none
    busy_host text,     -- where a user measures; NULL for none
    busy_for_s double precision
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
    ended advisor.fleet_attempts;
    words text := left(coalesce(its_message, ''), 500);
BEGIN
    UPDATE advisor.fleet_attempts a SET
        ended_s = now_s, outcome = its_outcome, message = words,
        moved_bytes = CASE WHEN its_moved_bytes BETWEEN 0 AND a.most_bytes
            THEN its_moved_bytes ELSE a.most_bytes END,
        rate_bps = advisor.fleet_figure(its_rate_bps, 1e15),
        rtt_s = advisor.fleet_figure(its_rtt_s, 1e4),
        session = left(coalesce(its_session, ''), 255)
        WHERE a.id = attempt AND a.ended_s IS NULL AND a.account = session_user
        RETURNING * INTO ended;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF its_outcome IN ('done', 'failed', 'given way') THEN
        INSERT INTO advisor.fleet_pairs (task, source, destination)
            VALUES (ended.task, ended.source, ended.destination) ON CONFLICT DO NOTHING;
    END IF;
    IF its_outcome = 'done' THEN
        UPDATE advisor.fleet_pairs p SET
            last_s = now_s, rate_bps = ended.rate_bps, rtt_s = ended.rtt_s, news = its_news,
            checks = greatest(0, least(its_checks, 100)), failures = 0, gave_way = 0, message = '',
            stored_source = coalesce(left(its_stored_source, 255), p.stored_source),
            stored_destination = coalesce(left(its_stored_destination, 255), p.stored_destination)
            WHERE (p.task, p.source, p.destination)
                = (ended.task, ended.source, ended.destination);
        UPDATE advisor.fleet_hosts SET failures = 0, message = ''
            WHERE host IN (ended.source, ended.destination);
    ELSIF its_outcome = 'failed' THEN
        UPDATE advisor.fleet_pairs p SET
            failures = least(p.failures, 1000) + 1, failed_s = now_s, message = words
            WHERE (p.task, p.source, p.destination)
                = (ended.task, ended.source, ended.destination);
        IF down_host IN (ended.source, ended.destination) THEN
            INSERT INTO advisor.fleet_hosts AS h (host, failures, failed_s, message)
                VALUES (down_host, 1, now_s, words)
                ON CONFLICT (host) DO UPDATE SET failures = least(h.failures, 1000) + 1,
                    failed_s = now_s, message = words;
        END IF;
    ELSIF its_outcome = 'given way' THEN
        UPDATE advisor.fleet_pairs p SET
            gave_way = least(p.gave_way, 1000) + 1, gave_way_s = now_s
            WHERE (p.task, p.source, p.destination)
                = (ended.task, ended.source, ended.destination);
        IF busy_host IN (ended.source, ended.destination) THEN
            INSERT INTO advisor.fleet_hosts AS h (host, busy_until_s)
                VALUES (busy_host, now_s + greatest(0, least(busy_for_s, 3600)))
                ON CONFLICT (host) DO UPDATE SET busy_until_s = excluded.busy_until_s;
        END IF;
    END IF;
    PERFORM advisor.fleet_count(its_outcome, 1);
    RETURN true;
END $$;

-- As in 0002; what was seen later than now is silent since the clock was set back, from now on.
CREATE OR REPLACE FUNCTION advisor.fleet_take_back(silent_s double precision) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
    one record;
    found integer := 0;
BEGIN
    FOR one IN SELECT id, seen_s FROM advisor.fleet_attempts WHERE ended_s IS NULL
            AND seen_s NOT BETWEEN now_s - greatest(silent_s, 20) AND now_s + 20 ORDER BY id LOOP
        -- See advisor/fleet/state/locks.py: a session lock of the worker's connection.
        IF one.seen_s < now_s - 600
            OR pg_try_advisory_xact_lock(1718379877, (one.id % 2147483647)::integer) THEN
            UPDATE advisor.fleet_attempts SET ended_s = now_s,
                outcome = 'given back', message = 'its worker is gone', moved_bytes = most_bytes
                WHERE id = one.id;
            found := found + 1;
        ELSE
            UPDATE advisor.fleet_attempts SET seen_s = now_s WHERE id = one.id AND seen_s > now_s;
        END IF;
    END LOOP;
    IF found > 0 THEN
        PERFORM advisor.fleet_count('given back', found);
    END IF;
    RETURN found;
END $$;

-- Who has somebody look whether anything is due: whoever finds that nobody else did so since it asked
-- last. So no clock decides.
CREATE TABLE advisor.fleet_ticks (number bigint NOT NULL);
INSERT INTO advisor.fleet_ticks VALUES (0);

CREATE FUNCTION advisor.fleet_tick(seen bigint, OUT newest bigint, OUT is_first boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE advisor.fleet_ticks SET number = number + 1 WHERE number = seen;
    is_first := FOUND;
    SELECT number INTO newest FROM advisor.fleet_ticks;
END $$;

REVOKE ALL ON FUNCTION advisor.fleet_tick FROM PUBLIC;
GRANT EXECUTE ON FUNCTION advisor.fleet_tick TO advisor_writer;
