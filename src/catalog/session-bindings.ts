/**
 * What session windows change in statements that serve every window (R6s): they have no grid, and record which rows they
 * hold. Most placeholders stand for nothing, or for the plain case, under other windows.
 */
import { quoteName, type Sql, trustedSql } from '../db/identifiers.ts';
import { microseconds } from './describe.ts';
import { relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';

export function sessionBindings(rollup: Rollup): Record<string, Sql> {
  const { window } = rollup.settings;
  const { windows, session, session_key: sessionKey, session_part: sessionPart } = relationsOf(rollup);
  if (window.kind !== 'session') {
    return {
      session_gap: trustedSql('null'),
      is_no_window: trustedSql(
        '(errata_window.window_start, errata_window.window_end) is distinct from (new.window_start, new.window_end)',
      ),
      adopted_window: trustedSql(`${windows}(t.window_start)`),
      expected_events: trustedSql('(j.known_events + j.certain)'),
      accounted_events: trustedSql('(coalesce(j.known_events, 0) + j.certain + j.straggling)'),
      became_value: trustedSql('null::jsonb'),
      is_replaced: trustedSql('false'),
    };
  }
  const sameKeyAs = (alias: string) =>
    rollup.keys
      .map(({ name }) => ` and array[k.${quoteName(name)}] = array[${alias}.${quoteName(name)}]`)
      .join('');
  const sameKey = sameKeyAs('c');
  return {
    session_gap: trustedSql(`interval '${microseconds(window.gap)}'`),
    is_no_window: trustedSql('errata_window.window_end > new.window_end'),
    adopted_window: trustedSql('(select t.window_start, t.window_end, null::date as local_date)'),
    expected_events: trustedSql('(j.event_count + j.shortage)'),
    accounted_events: trustedSql('j.event_count'),
    is_replaced: trustedSql(`
        (select bool_and(o.replaced_by is not null)
         from ${sessionKey} as k
         join ${session} as o on o.key_id = k.key_id
         where o.window_start = a.window_start and o.window_end = a.window_end${sameKeyAs('a')}) is true`),
    became_value: trustedSql(`(
    select jsonb_build_object('window_start', n.window_start::text, 'window_end', n.window_end::text)
    from ${sessionKey} as k
    join ${session} as o on o.key_id = k.key_id
    join ${sessionPart} as p on p.part_id = o.session_id
    join ${session} as n on n.session_id = p.session_id
    where c.is_void and o.replaced_by is not null and n.replaced_by is null
      and o.window_start = c.window_start and o.window_end = c.window_end${sameKey}
    limit 1
  )`),
  };
}

/** `external` over sessions: an entry refuses its row when it is joined; what had joined before the entry came stays (R6). */
export function entryBindings(rollup: Rollup): Record<string, Sql> {
  const { window, watermark } = rollup.settings;
  const only = (isTrue: boolean, sql: string, otherwise = '') => trustedSql(isTrue ? sql : otherwise);
  const isSession = window.kind === 'session';
  const refuses = isSession && watermark.strategy === 'external';
  const entries = `${quoteName(rollup.schema)}.refused_entry`;
  const {
    session_key: sessionKey,
    session_row: sessionRow,
    late_event: lateEvent,
    copy,
  } = relationsOf(rollup);
  return {
    entry_watermark: only(refuses, "when true then coalesce(n.watermark, '-infinity')"),
    is_named: only(refuses, 'coalesce(n.entries > 0, false)', 'false'),
    // The ids are joined first: only the few rows that bear one are looked up.
    entry_join: only(
      refuses,
      `left join (
  select distinct e.event_id from ${entries} as e where e.rollup_id = $7::integer and e.event_id is not null
) as i on i.event_id = r.errata_event_id
left join lateral (
  select count(*) as entries, min(e.watermark) as watermark
  from ${entries} as e
  where i.event_id is not null
    and e.rollup_id = $7::integer
    and e.event_id = r.errata_event_id
    and (e.event_time = r.errata_event_time or e.event_time is null)
) as n on true`,
    ),
    // A session ends no earlier than its row makes it; the one that the stream had it in is not known.
    least_end:
      window.kind === 'session'
        ? trustedSql(`(l.event_time + interval '${microseconds(window.gap)}')`)
        : trustedSql('l.window_end'),
    same_window: only(!isSession, 'l.window_start = w.window_start and l.window_end = w.window_end and'),
    judged_window: only(!isSession, 'l.window_start = j.window_start and l.window_end = j.window_end and'),
    recalled_landing: only(
      !isSession,
      "case when j.is_late or v.is_counted then 'judged' else 'side_output' end",
      "'judged'",
    ),
    is_recalled: only(
      isSession,
      `and (
    exists (
      select from ${sessionKey} as k
      join ${sessionRow} as m on m.key_id = k.key_id
      where k.is_key${rollup.keys.map(({ name }) => ` and array[k.${quoteName(name)}] = array[r.${quoteName(name)}]`).join('')}
        and m.event_id = r.errata_event_id
        and m.row_digest = r.errata_row_digest::uuid
    )
    or exists (select from ${lateEvent} as e where e.event_id = r.errata_event_id and e.row_digest = r.errata_row_digest)
    or exists (select from ${copy} as c where c.event_id = r.errata_event_id and c.row_digest = r.errata_row_digest)
  )`,
    ),
  };
}
