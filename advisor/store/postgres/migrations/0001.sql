-- The first schema. Migrations are run in a transaction, with the schema `advisor` there and empty
-- search_path. Once released, a file is never changed: a new one is added.

CREATE TABLE advisor.history (
    -- Names this history: a copy of its rows is worthless for another one at the same address.
    id uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid()
);
INSERT INTO advisor.history DEFAULT VALUES;

CREATE TABLE advisor.pairs (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text NOT NULL CHECK (pg_catalog.char_length(source) BETWEEN 1 AND 255),
    destination text NOT NULL CHECK (pg_catalog.char_length(destination) BETWEEN 1 AND 255),
    -- The number of the newest record. Its row is locked while records are added, so numbers are
    -- visible in their order and without gaps: "those after N" misses none.
    newest bigint NOT NULL DEFAULT 0,
    UNIQUE (source, destination)
);

CREATE TABLE advisor.records (
    pair_id integer NOT NULL REFERENCES advisor.pairs,
    number bigint NOT NULL,
    -- Of what it says, see identity_of: a record is stored once.
    identity bytea NOT NULL,
    kind text NOT NULL,
    session text NOT NULL,
    import_id text,
    moved_files boolean NOT NULL,
    written_by name NOT NULL,
    written_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    octets integer NOT NULL CHECK (octets <= 67108864),
    -- json, not jsonb: it keeps the text.
    record json NOT NULL,
    PRIMARY KEY (pair_id, number),
    UNIQUE (pair_id, identity)
);
CREATE INDEX records_imported ON advisor.records (pair_id, import_id) WHERE import_id IS NOT NULL;
CREATE INDEX records_moved_files ON advisor.records (pair_id) WHERE moved_files;

-- Who a session belongs to: the first who wrote a record of it.
CREATE TABLE advisor.sessions (
    pair_id integer NOT NULL REFERENCES advisor.pairs,
    session text NOT NULL,
    written_by name NOT NULL,
    opened_s double precision,
    ended boolean NOT NULL DEFAULT false,
    PRIMARY KEY (pair_id, session)
);
CREATE INDEX sessions_by_name ON advisor.sessions (session);
CREATE INDEX sessions_opened ON advisor.sessions (opened_s) WHERE opened_s IS NOT NULL;
CREATE INDEX sessions_open ON advisor.sessions (opened_s)
    WHERE opened_s IS NOT NULL AND NOT ended;

-- What the paths of a pair were like: an index only, the records say what counts.
CREATE TABLE advisor.paths (
    pair_id integer NOT NULL REFERENCES advisor.pairs,
    rtt_step integer NOT NULL,
    bandwidth_bps double precision NOT NULL, -- 0 where not known
    shortest_rtt_s double precision NOT NULL,
    longest_rtt_s double precision NOT NULL,
    PRIMARY KEY (rtt_step, pair_id, bandwidth_bps)
);
CREATE TABLE advisor.hosts (
    hosts text NOT NULL, -- names and addresses of both, one a line
    pair_id integer NOT NULL REFERENCES advisor.pairs,
    PRIMARY KEY (hosts, pair_id)
);

-- Events of sessions and outputs of tools, compressed.
CREATE TABLE advisor.files (
    pair_id integer NOT NULL REFERENCES advisor.pairs,
    session text NOT NULL,
    name text NOT NULL,
    written_by name NOT NULL,
    written_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    data bytea NOT NULL CHECK (pg_catalog.octet_length(data) <= 67108864),
    PRIMARY KEY (pair_id, session, name)
);

-- The row of a pair, made if it is missing, locked until the transaction ends.
CREATE FUNCTION advisor.locked_pair(of_source text, of_destination text) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    found_id integer;
BEGIN
    LOOP
        SELECT id INTO found_id FROM advisor.pairs
            WHERE source = of_source AND destination = of_destination FOR NO KEY UPDATE;
        EXIT WHEN found_id IS NOT NULL;
        INSERT INTO advisor.pairs (source, destination) VALUES (of_source, of_destination)
            ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN found_id;
END $$;

CREATE FUNCTION advisor.is_operator() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.pg_has_role(session_user, 'advisor_operator', 'USAGE')
$$;

-- The same for the same content, in whatever order its keys are.
CREATE FUNCTION advisor.identity_of(content text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN substr(sha256(convert_to((content::jsonb)::text, 'UTF8')), 1, 16);
EXCEPTION WHEN data_exception THEN
    -- jsonb has no NUL.
    RETURN substr(sha256(convert_to(content, 'UTF8')), 1, 16);
END $$;

-- Adds records of one pair, and says of each: 1 added, 0 there before, -1 refused, because its
-- session belongs to somebody else. Notes, transfers and imported measurements may be added by all
-- who may write; what hides or withdraws results only by the session's owner or an operator.
CREATE FUNCTION advisor.append(
    of_source text,
    of_destination text,
    records text[],
    kinds text[],
    sessions text[],
    import_ids text[],    -- those are added only if there is no record with the same
    moved_files boolean[],
    opened_s double precision[],
    ended boolean[],
    rtts_s double precision[],
    bandwidths_bps double precision[],
    hosts text[]
) RETURNS integer[] LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this_pair integer := advisor.locked_pair(of_source, of_destination);
    operates boolean := advisor.is_operator();
    outcome integer[] := '{}';
    last_number bigint;
    owner name;
    this_identity bytea;
BEGIN
    SELECT newest INTO last_number FROM advisor.pairs WHERE id = this_pair;
    FOR i IN 1 .. coalesce(cardinality(records), 0) LOOP
        this_identity := advisor.identity_of(records[i]);
        IF EXISTS (SELECT FROM advisor.records r
                WHERE r.pair_id = this_pair AND r.identity = this_identity)
            OR import_ids[i] IS NOT NULL AND EXISTS (SELECT FROM advisor.records r
                WHERE r.pair_id = this_pair AND r.import_id = import_ids[i])
        THEN
            outcome := outcome || 0;
            CONTINUE;
        END IF;
        SELECT s.written_by INTO owner FROM advisor.sessions s
            WHERE s.pair_id = this_pair AND s.session = sessions[i];
        IF NOT operates
            AND kinds[i] NOT IN ('note', 'transfer', 'import')
            AND coalesce(owner <> session_user, kinds[i] IN ('outlier', 'deleted'))
        THEN
            outcome := outcome || -1;
            CONTINUE;
        END IF;
        IF owner IS NULL AND kinds[i] NOT IN ('note', 'outlier', 'deleted') THEN
            INSERT INTO advisor.sessions (pair_id, session, written_by)
                VALUES (this_pair, sessions[i], session_user);
        END IF;
        IF opened_s[i] IS NOT NULL OR ended[i] THEN
            UPDATE advisor.sessions s SET
                opened_s = greatest(s.opened_s, append.opened_s[i]),
                ended = s.ended OR append.ended[i]
                WHERE s.pair_id = this_pair AND s.session = sessions[i]
                    AND (operates OR s.written_by = session_user);
        END IF;
        last_number := last_number + 1;
        INSERT INTO advisor.records (pair_id, number, identity, kind, session, import_id,
                moved_files, written_by, octets, record)
            VALUES (this_pair, last_number, this_identity, kinds[i], sessions[i], import_ids[i],
                moved_files[i], session_user, octet_length(records[i]), records[i]::json);
        -- Within bounds, so that no later question fails for what somebody wrote.
        IF rtts_s[i] BETWEEN 1e-9 AND 1e6 THEN
            INSERT INTO advisor.paths AS p
                VALUES (this_pair, floor(16 * ln(rtts_s[i]) / ln(2::float8))::integer,
                    CASE WHEN bandwidths_bps[i] BETWEEN 1 AND 1e15 THEN bandwidths_bps[i] ELSE 0 END,
                    rtts_s[i], rtts_s[i])
                ON CONFLICT (rtt_step, pair_id, bandwidth_bps) DO UPDATE SET
                    shortest_rtt_s = least(p.shortest_rtt_s, excluded.shortest_rtt_s),
                    longest_rtt_s = greatest(p.longest_rtt_s, excluded.longest_rtt_s)
                WHERE excluded.shortest_rtt_s < p.shortest_rtt_s
                    OR excluded.longest_rtt_s > p.longest_rtt_s;
        END IF;
        IF hosts[i] IS NOT NULL THEN
            INSERT INTO advisor.hosts VALUES (hosts[i], this_pair) ON CONFLICT DO NOTHING;
        END IF;
        outcome := outcome || 1;
    END LOOP;
    UPDATE advisor.pairs SET newest = last_number WHERE id = this_pair AND newest <> last_number;
    RETURN outcome;
END $$;

-- Keeps a file of a session, in place of an earlier one; false if the session is somebody else's.
CREATE FUNCTION advisor.keep(
    of_source text, of_destination text, of_session text, file_name text, content bytea
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this_pair integer := advisor.locked_pair(of_source, of_destination);
BEGIN
    INSERT INTO advisor.sessions (pair_id, session, written_by)
        VALUES (this_pair, of_session, session_user) ON CONFLICT DO NOTHING;
    IF NOT advisor.is_operator() AND NOT EXISTS (SELECT FROM advisor.sessions
            WHERE pair_id = this_pair AND session = of_session AND written_by = session_user)
    THEN
        RETURN false;
    END IF;
    INSERT INTO advisor.files (pair_id, session, name, written_by, data)
        VALUES (this_pair, of_session, file_name, session_user, content)
        ON CONFLICT (pair_id, session, name) DO UPDATE
            SET data = excluded.data, written_by = excluded.written_by, written_at = now();
    RETURN true;
END $$;

REVOKE ALL ON SCHEMA advisor FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA advisor FROM PUBLIC;
GRANT USAGE ON SCHEMA advisor TO advisor_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA advisor TO advisor_reader;
GRANT EXECUTE ON FUNCTION advisor.append TO advisor_writer;
GRANT EXECUTE ON FUNCTION advisor.keep TO advisor_writer;
