-- Begin: tell the source which rows a person has let out of quarantine, for this transaction (R4). A setting and no join:
-- it costs nothing for the rows that are not in quarantine.
--
-- Rows out: one. Safe to repeat.
select set_config(
  'errata.released',
  coalesce(
    (
      select array_agg(distinct e.row_digest)::text
      from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
      where e.cause = 'quarantine_release'
    ),
    ''
  ),
  true
)
