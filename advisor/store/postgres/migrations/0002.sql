-- A fleet: what is configured, who works, and what became of every attempt. All times are Unix times
-- of the database's own clock, so that workers on different hosts agree. Hosts and tasks are known by
-- their names in fleet.toml.

CREATE TABLE advisor.fleet_configurations (
    version integer PRIMARY KEY,
    -- fleet.toml as it was applied. Whoever reads it checks it again.
    content text NOT NULL CHECK (pg_catalog.octet_length(content) <= 2097152),
    applied_by name NOT NULL,
    applied_s double precision NOT NULL
);

CREATE TABLE advisor.fleet_pauses (
    host text PRIMARY KEY CHECK (pg_catalog.char_length(host) <= 63), -- '' for all
    until_s double precision, -- without an end if NULL
    paused_by name NOT NULL,
    paused_s double precision NOT NULL
);

CREATE TABLE advisor.fleet_workers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (pg_catalog.char_length(name) BETWEEN 1 AND 255),
    account name NOT NULL,
    started_s double precision NOT NULL,
    seen_s double precision NOT NULL,
    ended_s double precision
);

-- What is known of each pair of a task.
CREATE TABLE advisor.fleet_pairs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task text NOT NULL CHECK (pg_catalog.char_length(task) BETWEEN 1 AND 63),
    source text NOT NULL CHECK (pg_catalog.char_length(source) BETWEEN 1 AND 63),
    destination text NOT NULL CHECK (pg_catalog.char_length(destination) BETWEEN 1 AND 63),
    last_s double precision, -- of the last success
    rate_bps double precision,
    rtt_s double precision,
    news text NOT NULL DEFAULT 'none' CHECK (news IN ('none', 'suspected', 'changed')),
    checks smallint NOT NULL DEFAULT 0, -- in succession for `news`, before the last success
    failures integer NOT NULL DEFAULT 0, -- in succession, since the last success
    failed_s double precision,
    message text NOT NULL DEFAULT '', -- of the last failure
    -- The pair under which the shared history has its records.
    stored_source text,
    stored_destination text,
    UNIQUE (task, source, destination)
);

CREATE TABLE advisor.fleet_hosts (
    host text PRIMARY KEY CHECK (pg_catalog.char_length(host) BETWEEN 1 AND 63),
    failures integer NOT NULL DEFAULT 0, -- in succession: it could not be reached
    failed_s double precision,
    message text NOT NULL DEFAULT '',
    busy_until_s double precision -- a user measures there
);

CREATE TABLE advisor.fleet_attempts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id bigint NOT NULL REFERENCES advisor.fleet_workers,
    account name NOT NULL,
    task text NOT NULL CHECK (pg_catalog.char_length(task) BETWEEN 1 AND 63),
    source text NOT NULL CHECK (pg_catalog.char_length(source) BETWEEN 1 AND 63),
    destination text NOT NULL CHECK (pg_catalog.char_length(destination) BETWEEN 1 AND 63),
    why text NOT NULL CHECK (pg_catalog.char_length(why) <= 63),
    began_s double precision NOT NULL,
    seen_s double precision NOT NULL,
    ended_s double precision,
    -- Booked while it runs, then replaced by moved_bytes.
    most_bytes double precision NOT NULL CHECK (most_bytes BETWEEN 0 AND 1e18),
    moved_bytes double precision,
    outcome text CHECK (outcome IN ('done', 'failed', 'given way', 'given back')),
    message text NOT NULL DEFAULT '',
    rate_bps double precision,
    rtt_s double precision,
    session text NOT NULL DEFAULT '',
    CHECK ((ended_s IS NULL) = (outcome IS NULL)),
    CHECK ((ended_s IS NULL) = (moved_bytes IS NULL))
);
CREATE INDEX fleet_attempts_open ON advisor.fleet_attempts (id) WHERE ended_s IS NULL;
CREATE INDEX fleet_attempts_ended ON advisor.fleet_attempts (ended_s) WHERE ended_s IS NOT NULL;
CREATE INDEX fleet_attempts_of_pair ON advisor.fleet_attempts (task, source, destination, id);

CREATE FUNCTION advisor.fleet_now() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT extract(epoch FROM pg_catalog.clock_timestamp())::double precision
$$;

-- A finite number within bounds, or NULL.
CREATE FUNCTION advisor.fleet_figure(given double precision, most double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN given > 0 AND given <= most THEN given END
$$;

-- Who plans waits for others who do, until the end of the transaction: one at a time decides what is
-- measured next.
CREATE FUNCTION advisor.fleet_plan() RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.pg_advisory_xact_lock(7017864301627401588)
$$;

-- A new version, unless the newest one says the same.
CREATE FUNCTION advisor.fleet_apply(new_content text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest advisor.fleet_configurations;
BEGIN
    PERFORM advisor.fleet_plan();
    SELECT * INTO newest FROM advisor.fleet_configurations ORDER BY version DESC LIMIT 1;
    IF newest.content = new_content AND newest.applied_by = session_user THEN
        RETURN newest.version;
    END IF;
    INSERT INTO advisor.fleet_configurations
        VALUES (coalesce(newest.version, 0) + 1, new_content, session_user, advisor.fleet_now());
    RETURN coalesce(newest.version, 0) + 1;
END $$;

CREATE FUNCTION advisor.fleet_pause(of_host text, until double precision) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO advisor.fleet_pauses VALUES (of_host, until, session_user, advisor.fleet_now())
        ON CONFLICT (host) DO UPDATE SET until_s = excluded.until_s,
            paused_by = excluded.paused_by, paused_s = excluded.paused_s
$$;

-- Whether it was paused. All of them for ''.
CREATE FUNCTION advisor.fleet_resume(of_host text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM advisor.fleet_pauses WHERE of_host IN ('', host);
    RETURN FOUND;
END $$;

CREATE FUNCTION advisor.fleet_worker_starts(its_name text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO advisor.fleet_workers (name, account, started_s, seen_s)
        VALUES (its_name, session_user, advisor.fleet_now(), advisor.fleet_now()) RETURNING id
$$;

CREATE FUNCTION advisor.fleet_worker_lives(worker bigint, ends boolean) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE advisor.fleet_workers SET seen_s = advisor.fleet_now(),
        ended_s = CASE WHEN ends THEN advisor.fleet_now() END
        WHERE id = worker AND account = session_user
$$;

-- A measurement begins: its number. Refused while another one has one of the hosts, whatever a worker
-- believes.
CREATE FUNCTION advisor.fleet_begin(
    worker bigint, of_task text, of_source text, of_destination text, its_why text,
    its_most_bytes double precision
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made bigint;
BEGIN
    PERFORM advisor.fleet_plan();
    IF NOT EXISTS (SELECT FROM advisor.fleet_workers w
            WHERE w.id = worker AND w.account = session_user) THEN
        RAISE EXCEPTION 'worker % is not of this account', worker USING ERRCODE = '42501';
    END IF;
    IF of_source = of_destination OR EXISTS (SELECT FROM advisor.fleet_attempts a
            WHERE a.ended_s IS NULL AND (a.source IN (of_source, of_destination)
                OR a.destination IN (of_source, of_destination))) THEN
        RAISE EXCEPTION 'a host of this pair is being measured' USING ERRCODE = '55006';
    END IF;
    INSERT INTO advisor.fleet_attempts (worker_id, account, task, source, destination, why,
            began_s, seen_s, most_bytes)
        VALUES (worker, session_user, of_task, of_source, of_destination, its_why,
            advisor.fleet_now(), advisor.fleet_now(), its_most_bytes)
        RETURNING id INTO made;
    RETURN made;
END $$;

-- It still runs; false if it does not any more.
CREATE FUNCTION advisor.fleet_runs(attempt bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE advisor.fleet_attempts SET seen_s = advisor.fleet_now()
        WHERE id = attempt AND ended_s IS NULL AND account = session_user;
    RETURN FOUND;
END $$;

-- It has ended: the booking is replaced by what was moved, and the pair and its hosts know more.
-- Only who began it can say so, and only once; false otherwise.
CREATE FUNCTION advisor.fleet_end(
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
    IF its_outcome IN ('done', 'failed') THEN
        INSERT INTO advisor.fleet_pairs (task, source, destination)
            VALUES (ended.task, ended.source, ended.destination) ON CONFLICT DO NOTHING;
    END IF;
    IF its_outcome = 'done' THEN
        UPDATE advisor.fleet_pairs p SET
            last_s = now_s, rate_bps = ended.rate_bps, rtt_s = ended.rtt_s, news = its_news,
            checks = greatest(0, least(its_checks, 100)), failures = 0, message = '',
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
    ELSIF its_outcome = 'given way' AND busy_host IN (ended.source, ended.destination) THEN
        INSERT INTO advisor.fleet_hosts AS h (host, busy_until_s)
            VALUES (busy_host, now_s + greatest(0, least(busy_for_s, 3600)))
            ON CONFLICT (host) DO UPDATE SET busy_until_s = excluded.busy_until_s;
    END IF;
    RETURN true;
END $$;

-- Ends measurements whose workers are gone: nothing was heard of them for a while, and the connection
-- that held their locks is dead. Whoever may connect can take such a lock: after ten minutes of silence
-- it does not count. All that they had booked counts as moved. How many there were.
CREATE FUNCTION advisor.fleet_take_back(silent_s double precision) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
    found integer := 0;
BEGIN
    FOR one IN SELECT id, seen_s FROM advisor.fleet_attempts WHERE ended_s IS NULL
            AND seen_s < advisor.fleet_now() - greatest(silent_s, 20) ORDER BY id LOOP
        -- See advisor/fleet/state/locks.py: a session lock of the worker's connection.
        IF one.seen_s < advisor.fleet_now() - 600
            OR pg_try_advisory_xact_lock(1718379877, (one.id % 2147483647)::integer) THEN
            UPDATE advisor.fleet_attempts SET ended_s = advisor.fleet_now(),
                outcome = 'given back', message = 'its worker is gone', moved_bytes = most_bytes
                WHERE id = one.id;
            found := found + 1;
        END IF;
    END LOOP;
    RETURN found;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA advisor FROM PUBLIC;
GRANT SELECT ON advisor.fleet_configurations, advisor.fleet_pauses, advisor.fleet_workers,
    advisor.fleet_pairs, advisor.fleet_hosts, advisor.fleet_attempts TO advisor_reader;
GRANT EXECUTE ON FUNCTION advisor.fleet_now TO advisor_reader;
GRANT EXECUTE ON FUNCTION advisor.fleet_plan, advisor.fleet_worker_starts,
    advisor.fleet_worker_lives, advisor.fleet_begin, advisor.fleet_runs, advisor.fleet_end,
    advisor.fleet_take_back TO advisor_writer;
GRANT EXECUTE ON FUNCTION advisor.fleet_apply, advisor.fleet_pause, advisor.fleet_resume
    TO advisor_operator;
