-- Statement, refused: the refused rows among the events, for people to read.
--
-- Inputs: the view of events. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_refused as
select e.*
from pg_temp.errata_stated_events as e
where e.landing = 'side_output'
