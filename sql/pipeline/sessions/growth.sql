-- Classify, sessions: whether this run adds so much to the tables of sessions that the planner must look at them anew.
--
-- $1 joined: bigint, the rows that joined a session in this run
--
-- Rows out: one. Reads only.
select c.reltuples < 10 * $1::bigint as is_large
from pg_catalog.pg_class as c
where c.oid = '/*:session_row*/errata.daily_orders_session_row/*.*/'::regclass
