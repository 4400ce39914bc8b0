-- A transfer over several nodes: one queue of its pieces, called lots here, without any name of a file.
-- One coordinator works with it, which draws for all of its nodes; others may only look.

CREATE TABLE advisor.transfers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account name NOT NULL,
    -- The same for each run of one transfer, and known to nobody else: SHA-256 of its token.
    key text NOT NULL CHECK (key ~ '^[0-9a-f]{64}$'),
    source text NOT NULL CHECK (pg_catalog.char_length(source) BETWEEN 1 AND 255),
    destination text NOT NULL CHECK (pg_catalog.char_length(destination) BETWEEN 1 AND 255),
    total_bytes bigint NOT NULL CHECK (total_bytes >= 0),
    left_bytes bigint NOT NULL CHECK (left_bytes >= 0),
    began_s double precision NOT NULL,
    seen_s double precision NOT NULL,
    ended_s double precision,
    message text NOT NULL DEFAULT ''
);
CREATE INDEX transfers_of_key ON advisor.transfers (key) WHERE ended_s IS NULL;
CREATE INDEX transfers_began ON advisor.transfers (began_s);

CREATE TABLE advisor.transfer_nodes (
    transfer_id bigint NOT NULL REFERENCES advisor.transfers ON DELETE CASCADE,
    number integer NOT NULL CHECK (number BETWEEN 1 AND 1000),
    source text NOT NULL CHECK (pg_catalog.char_length(source) BETWEEN 1 AND 255),
    destination text NOT NULL CHECK (pg_catalog.char_length(destination) BETWEEN 1 AND 255),
    state text NOT NULL CHECK (state IN ('connecting', 'moving', 'lost', 'ended')),
    moved_bytes bigint NOT NULL CHECK (moved_bytes >= 0),
    rate_bps double precision NOT NULL,
    clients integer NOT NULL,
    streams integer NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (transfer_id, number)
);

CREATE TABLE advisor.transfer_lots (
    transfer_id bigint NOT NULL REFERENCES advisor.transfers ON DELETE CASCADE,
    number integer NOT NULL CHECK (number > 0),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    -- Who has it until when; a lease that has run out is anybody's.
    node integer,
    lease bigint,
    until_s double precision,
    failed_at integer[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (transfer_id, number)
);

CREATE SEQUENCE advisor.transfer_leases;

-- A new run of a transfer, and how many seconds to wait before anything is drawn: nodes of an earlier
-- run that has not ended may still write.
CREATE FUNCTION advisor.transfer_begin(
    its_key text, its_source text, its_destination text, its_bytes bigint, lease_s double precision,
    OUT made bigint, OUT wait_s double precision
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
BEGIN
    SELECT greatest(0, max(t.seen_s) + lease_s - now_s) INTO wait_s
        FROM advisor.transfers t WHERE t.key = its_key AND t.ended_s IS NULL;
    wait_s := least(coalesce(wait_s, 0), lease_s);
    DELETE FROM advisor.transfer_lots l USING advisor.transfers t
        WHERE t.id = l.transfer_id AND t.account = session_user AND t.ended_s IS NULL
            AND (t.key = its_key OR t.seen_s < now_s - 86400);
    UPDATE advisor.transfers t SET ended_s = now_s, message = 'it was abandoned'
        WHERE t.account = session_user AND t.ended_s IS NULL
            AND (t.key = its_key OR t.seen_s < now_s - 86400);
    INSERT INTO advisor.transfers (account, key, source, destination, total_bytes, left_bytes,
            began_s, seen_s)
        VALUES (session_user, its_key, its_source, its_destination, its_bytes, its_bytes, now_s, now_s)
        RETURNING id INTO made;
END $$;

-- Raises unless the transfer runs and is this account's.
CREATE FUNCTION advisor.transfer_own(transfer bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM advisor.transfers t WHERE t.id = transfer
            AND t.account = session_user AND t.ended_s IS NULL) THEN
        RAISE EXCEPTION 'transfer % does not run, or is not of this account', transfer
            USING ERRCODE = '42501';
    END IF;
END $$;

-- Lots from number `first` on. `without`: a node that is not to have them.
CREATE FUNCTION advisor.transfer_add(
    transfer bigint, first integer, sizes bigint[], without integer[]
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM advisor.transfer_own(transfer);
    INSERT INTO advisor.transfer_lots (transfer_id, number, bytes, failed_at)
        SELECT transfer, first + given.place::integer - 1, given.size, without
        FROM unnest(sizes) WITH ORDINALITY AS given (size, place);
END $$;

-- The next lots for a node, at least one if there is any, about `wanted` bytes, `most` lots at most.
CREATE FUNCTION advisor.transfer_draw(
    transfer bigint, of_node integer, wanted bigint, most integer, lease_s double precision
) RETURNS TABLE (lot integer, its_lease bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
BEGIN
    PERFORM advisor.transfer_own(transfer);
    RETURN QUERY
        WITH free AS (
            SELECT l.number, l.bytes FROM advisor.transfer_lots l
                WHERE l.transfer_id = transfer AND (l.until_s IS NULL OR l.until_s < now_s)
                    AND NOT of_node = ANY (l.failed_at)
                ORDER BY l.number LIMIT least(greatest(most, 1), 1000) FOR UPDATE SKIP LOCKED
        ), summed AS (
            SELECT f.number, sum(f.bytes) OVER (ORDER BY f.number) - f.bytes AS before FROM free f
        )
        UPDATE advisor.transfer_lots l SET node = of_node,
                lease = nextval('advisor.transfer_leases'),
                until_s = now_s + least(greatest(lease_s, 1), 600)
            FROM summed s
            WHERE l.transfer_id = transfer AND l.number = s.number
                AND (s.before < wanted OR s.before = 0)
            RETURNING l.number, l.lease;
END $$;

-- Those of these leases that still hold are renewed; a lease that ran out holds until somebody else
-- has drawn the lot. How many.
CREATE FUNCTION advisor.transfer_renew(
    transfer bigint, leases bigint[], lease_s double precision
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found integer;
BEGIN
    PERFORM advisor.transfer_own(transfer);
    UPDATE advisor.transfer_lots l
        SET until_s = advisor.fleet_now() + least(greatest(lease_s, 1), 600)
        WHERE l.transfer_id = transfer AND l.lease = ANY (leases);
    GET DIAGNOSTICS found = ROW_COUNT;
    UPDATE advisor.transfers t SET seen_s = advisor.fleet_now() WHERE t.id = transfer;
    RETURN found;
END $$;

-- Lots that have arrived, each with the lease that it was moved under, 0 for lots that nobody is to
-- move any more. Returns those that are accepted: a lease that somebody else has by now is refused.
CREATE FUNCTION advisor.transfer_done(transfer bigint, lots integer[], leases bigint[])
RETURNS TABLE (lot integer) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM advisor.transfer_own(transfer);
    RETURN QUERY
        WITH taken AS (
            DELETE FROM advisor.transfer_lots l
                USING unnest(lots, leases) AS given (number, lease)
                WHERE l.transfer_id = transfer AND l.number = given.number
                    AND (l.lease = given.lease OR given.lease = 0)
                RETURNING l.number, l.bytes
        ), counted AS (
            UPDATE advisor.transfers t SET left_bytes = greatest(0, t.left_bytes
                    - (SELECT coalesce(sum(k.bytes), 0) FROM taken k))
                WHERE t.id = transfer RETURNING t.id
        )
        SELECT k.number FROM taken k, counted;
END $$;

-- The leases of a node that has ended for certain: others may have these lots at once.
CREATE FUNCTION advisor.transfer_give_back(transfer bigint, leases bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM advisor.transfer_own(transfer);
    UPDATE advisor.transfer_lots l SET until_s = NULL, lease = NULL, node = NULL
        WHERE l.transfer_id = transfer AND l.lease = ANY (leases);
END $$;

-- How a node does, for others to see.
CREATE FUNCTION advisor.transfer_node(
    transfer bigint, its_number integer, its_source text, its_destination text, its_state text,
    its_bytes bigint, its_rate_bps double precision, its_clients integer, its_streams integer,
    its_message text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM advisor.transfer_own(transfer);
    INSERT INTO advisor.transfer_nodes AS n VALUES (transfer, its_number, its_source,
            its_destination, its_state, its_bytes, its_rate_bps, its_clients, its_streams,
            left(its_message, 500))
        ON CONFLICT (transfer_id, number) DO UPDATE SET state = excluded.state,
            moved_bytes = excluded.moved_bytes, rate_bps = excluded.rate_bps,
            clients = excluded.clients, streams = excluded.streams, message = excluded.message;
END $$;

CREATE FUNCTION advisor.transfer_end(transfer bigint, its_message text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM advisor.transfer_own(transfer);
    DELETE FROM advisor.transfer_lots l WHERE l.transfer_id = transfer;
    UPDATE advisor.transfers t SET ended_s = advisor.fleet_now(), message = left(its_message, 500)
        WHERE t.id = transfer;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA advisor FROM PUBLIC;
GRANT SELECT ON advisor.transfers, advisor.transfer_nodes, advisor.transfer_lots TO advisor_reader;
GRANT EXECUTE ON FUNCTION advisor.transfer_begin, advisor.transfer_add, advisor.transfer_draw,
    advisor.transfer_renew, advisor.transfer_done, advisor.transfer_give_back,
    advisor.transfer_node, advisor.transfer_end TO advisor_writer;
