-- Release: a person lets pending events into the counted set (R10). The run that follows recomputes their windows.
--
-- $1 run_id: bigint
-- $2 actor, $3 reason: text
-- $4 window_from, $5 window_to: releases events of windows that start in here, half-open; null for no limit
-- $6 event_ids: text[]; null for all
-- $7 key: jsonb, an object of key columns and their texts; null for all
--
-- A waived event is only taken back where it is named by its id. Rows out: one an event. Safe to repeat: what is released or included already is passed over.
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set state = 'pending', released = true, state_run_id = $1::bigint, state_actor = $2::text, state_reason = $3::text
where ((e.state = 'pending' and not e.released) or (e.state = 'waived' and $6::text[] is not null))
  and (e.window_start >= $4::timestamptz or $4::timestamptz is null)
  and (e.window_start < $5::timestamptz or $5::timestamptz is null)
  and (e.event_id = any ($6::text[]) or $6::text[] is null)
  and ($7::jsonb is null or jsonb_build_object(/*:event_key_pairs*/'region', e.region::text/*.*/) @> $7::jsonb)
returning e.event_id, e.window_start::text as window_start
