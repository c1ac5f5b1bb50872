-- One session counted anew from bronze: the rows that joined it, whatever their state, and the refused ones that await a
-- person in it (R6s, R14). Rows out: one, an object of the additive measures.
--
-- $1 window_start, $2 window_end: of the session
-- $3 key: jsonb, an object of all key columns and their texts
-- $4 is_every_row: boolean; every row is an event of its own
--
-- Safe to repeat: it reads.
with member as (
  select m.event_id, m.row_digest
  from /*:session_key*/errata.daily_orders_session_key/*.*/ as c
  join /*:session*/errata.daily_orders_session/*.*/ as s on s.key_id = c.key_id
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.session_id = s.session_id
  join /*:session_row*/errata.daily_orders_session_row/*.*/ as m on m.session_id = p.part_id
  where s.window_start = $1::timestamptz
    and s.window_end = $2::timestamptz
    and s.replaced_by is null
    and not exists (
      select from /*:session_part*/errata.daily_orders_session_part/*.*/ as x
      where x.session_id = s.session_id and x.part_id = m.copy_since
    )
    and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
  union
  select c.event_id, c.row_digest::uuid
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as c
  where c.window_start = $1::timestamptz
    and c.window_end = $2::timestamptz
    and c.state is not null
    and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
),
window_row as (
  select c.*, row_number() over (partition by m.event_id, m.row_digest) as errata_place
  from member as m
  join /*:source*/errata.daily_orders_source/*.*/ () as c
    on c.errata_event_id = m.event_id
    and c.errata_row_digest::uuid = m.row_digest
  where c.errata_event_time >= $1::timestamptz
    and c.errata_event_time < $2::timestamptz
)
select
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, v./*:measure*/revenue/*.*/::text) /*:end*/ as recount
from (
  select /*:each additive*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as errata_rows
  from window_row as r
  where r.errata_place = 1 or $4::boolean
) as v
