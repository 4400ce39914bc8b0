-- A run of a transfer over several nodes that has ended, or was replaced, may have lost a node that still
-- writes, until its lease runs out: the next run waits for that too.

ALTER TABLE advisor.transfers ADD COLUMN lost_until_s double precision;
CREATE INDEX transfers_lost ON advisor.transfers (key) WHERE lost_until_s IS NOT NULL;

-- A new run of a transfer, and how many seconds to wait before anything is drawn: nodes of an earlier
-- run may still write.
CREATE OR REPLACE FUNCTION advisor.transfer_begin(
    its_key text, its_source text, its_destination text, its_bytes bigint, lease_s double precision,
    OUT made bigint, OUT wait_s double precision
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
BEGIN
    SELECT greatest(0, max(coalesce(t.lost_until_s, t.seen_s + lease_s)) - now_s) INTO wait_s
        FROM advisor.transfers t
        WHERE t.key = its_key AND (t.ended_s IS NULL OR t.lost_until_s IS NOT NULL);
    wait_s := least(coalesce(wait_s, 0), lease_s);
    -- Later than that it was before the clock was set back.
    UPDATE advisor.transfers t SET lost_until_s = now_s + lease_s
        WHERE t.key = its_key AND t.lost_until_s > now_s + lease_s;
    DELETE FROM advisor.transfer_lots l USING advisor.transfers t
        WHERE t.id = l.transfer_id AND t.account = session_user AND t.ended_s IS NULL
            AND (t.key = its_key OR t.seen_s < now_s - 86400);
    UPDATE advisor.transfers t SET ended_s = now_s, message = 'it was abandoned',
            lost_until_s = t.seen_s + lease_s
        WHERE t.account = session_user AND t.ended_s IS NULL
            AND (t.key = its_key OR t.seen_s < now_s - 86400);
    INSERT INTO advisor.transfers (account, key, source, destination, total_bytes, left_bytes,
            began_s, seen_s)
        VALUES (session_user, its_key, its_source, its_destination, its_bytes, its_bytes, now_s, now_s)
        RETURNING id INTO made;
END $$;

-- Leases that were not given back are those of nodes whose end is not certain.
CREATE OR REPLACE FUNCTION advisor.transfer_end(transfer bigint, its_message text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
    latest_s double precision;
BEGIN
    PERFORM advisor.transfer_own(transfer);
    SELECT max(l.until_s) INTO latest_s FROM advisor.transfer_lots l
        WHERE l.transfer_id = transfer AND l.until_s > now_s;
    DELETE FROM advisor.transfer_lots l WHERE l.transfer_id = transfer;
    UPDATE advisor.transfers t SET ended_s = now_s, message = left(its_message, 500),
            lost_until_s = latest_s
        WHERE t.id = transfer;
END $$;

-- Those of these leases that still hold are renewed; a lease that ran out holds until somebody else
-- has drawn the lot. How many. No lease lasts longer because the clock was set back.
CREATE OR REPLACE FUNCTION advisor.transfer_renew(
    transfer bigint, leases bigint[], lease_s double precision
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now_s double precision := advisor.fleet_now();
    latest_s double precision := now_s + least(greatest(lease_s, 1), 600);
    found integer;
BEGIN
    PERFORM advisor.transfer_own(transfer);
    UPDATE advisor.transfer_lots l SET until_s = latest_s
        WHERE l.transfer_id = transfer AND l.lease = ANY (leases);
    GET DIAGNOSTICS found = ROW_COUNT;
    UPDATE advisor.transfer_lots l SET until_s = latest_s
        WHERE l.transfer_id = transfer AND l.until_s > latest_s;
    UPDATE advisor.transfers t SET seen_s = now_s WHERE t.id = transfer;
    RETURN found;
END $$;
