-- All versions of one keyed window with the value before and the difference. Rows out: one a version.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of all key columns and their texts
-- $4 known_at: timestamptz; those published by then; null for all
--
-- Safe to repeat: it reads.
select
  c.version,
  '{}'::jsonb
    /*:each measure*/
    || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object(
      'old', c./*:previous_measure*/previous_revenue/*.*/::text,
      'new', c./*:measure*/revenue/*.*/::text,
      'delta', c./*:delta_measure*/delta_revenue/*.*/::text
    ))
    /*:end*/ as measures,
  c.event_count::text as event_count,
  c.previous_event_count::text as previous_event_count,
  c.is_void,
  c.kind,
  c.causes,
  c.reason,
  c.actor,
  c.db_role,
  c.approver,
  c.run_id::text as run_id,
  r.verb,
  c.stamp::text as stamp,
  c.posting_period,
  c.replaces,
  /*:became_value*/null::jsonb/*.*/ as became,
  c.definition_fingerprint
from /*:history*/gold.daily_orders_history/*.*/ as c
left join /*:schema*/errata/*.*/.run as r on r.run_id = c.run_id
where c.window_start = $1::timestamptz
  and c.window_end = $2::timestamptz
  and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
  and ($4::timestamptz is null or c.stamp <= $4::timestamptz)
order by c.version
