-- The records of one session of a pair, without reading all others of the pair.
CREATE INDEX records_of_session ON advisor.records (pair_id, session, number);
