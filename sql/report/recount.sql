-- One keyed window counted anew from bronze: its valid first copies, whatever their state (R14). Rows out: one, an
-- object of the additive measures.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of all key columns and their texts
-- $4 examined_to: rows ingested later have not been examined yet
-- $5 is_every_row: boolean; every row is an event of its own
--
-- The first copy is the earliest row that no run has recorded as a copy: once counted, a copy examined later never
-- displaces it (R5). A row whose first copy lies under another key is recorded as a copy too.
-- Safe to repeat: it reads.
with window_row as (
  select
    c.*,
    p.event_id is not null as errata_is_copy,
    row_number() over (
      partition by c.errata_event_id
      order by p.event_id is not null, c.errata_ingested_at, c.errata_row_digest collate "C"
    ) as errata_place
  from /*:source*/errata.daily_orders_source/*.*/ () as c
  left join /*:copy*/errata.daily_orders_copy/*.*/ as p
    on p.window_start = $1::timestamptz
    and p.window_end = $2::timestamptz
    and p.event_id = c.errata_event_id
    and p.ingested_at = c.errata_ingested_at
    and p.row_digest = c.errata_row_digest
    and not p.is_identical
  where c.errata_event_time >= $1::timestamptz
    and c.errata_event_time < $2::timestamptz
    and c.errata_ingested_at <= $4::timestamptz
    and c.errata_is_valid
    and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
)
select
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, v./*:measure*/revenue/*.*/::text) /*:end*/ as recount
from (
  select /*:each additive*/ /*:measure_value*/sum(amount)/*.*/ as /*:measure*/revenue/*.*/, /*:end*/ count(*) as errata_rows
  from window_row as r
  where (r.errata_place = 1 and not r.errata_is_copy) or $5::boolean
) as v
