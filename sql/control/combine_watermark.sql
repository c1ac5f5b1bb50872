-- The watermarks of the source partitions, combined (R2): a fold over what happened, in order of ingested_at.
--
--   event of a source partition      its own watermark      the combined one
--   a row, or an entry with a value  the greatest so far    taken anew where it can have moved; in force after the instant
--   silent for idle_after            stays                  taken anew without it; in force from exactly that instant on
--   an idle mark                     stays                  taken anew without it
--   an entry without a value         stays                  it is awake, and counts once its own has caught up
--
--   taken anew = the greater of what it was and
--     nobody is active                         the greatest own watermark
--     an active one is declared, and silent    nothing: it holds the others back
--     otherwise                                the least own watermark of those that are active and not behind
--
-- Inputs: pg_temp.errata_record, in any order; the state in source_partition. Only instants before the bound are
-- folded: what has the bound's own instant is carried over, since the next run may add to it (R17).
-- Rows out: one a step; source_partition_id NULL: of the combined watermark, else of that source partition (`own`
-- only). An instant may come twice; its greatest holds. Side effect: the state as of the bound.
-- Safe to repeat: replaces a function. It folds a run's events once, in the transaction that moves the frontier.
--
-- The minimum is taken anew only if the one that moved stood at or below it, or one woke, fell idle or broke its
-- silence: otherwise another one still stands where the combined watermark does.
--
-- Cost, seconds, 670,000 rows two a second, event times up to 60 s behind; PostgreSQL 18 on a machine under heavy other
-- load, one reading each, so only their proportion tells (a bare sequential scan: 0.2 to 0.3):
--                                              scan   watermark   classify
--   no source partition (set-based)             6.5         3.1        1.1
--   1                                           7.9         4.3        1.0
--   64                                         14.2        11.8        0.5    (half of all rows raise their own)
--   64, idle_after                              8.1         9.1        0.5
create or replace function /*:schema*/errata/*.*/.combine_watermark(
  rollup integer,
  combine text,
  idle_after interval,
  frontier timestamptz,
  bound timestamptz,
  is_log boolean
)
returns table (source_partition_id bigint, at timestamptz, watermark timestamptz)
language plpgsql
as $function$
#variable_conflict use_column
declare
  keeps_own constant boolean := combine = 'own';
  takes_max constant boolean := combine = 'max';
  ids bigint[];
  own timestamptz[];
  last timestamptz[];
  active boolean[];
  marked boolean[];
  -- declared, and without a row or entry so far
  silent boolean[];
  back bigint[];
  combined timestamptz;
  -- never later than the next instant at which one falls idle
  due timestamptz := case when idle_after is null then 'infinity' else '-infinity' end;
  instant timestamptz;
  step_at timestamptz;
  is_moved boolean := false;
  event record;
  place integer;
  found_one record;
  candidate timestamptz;
begin
  select
    array_agg(p.source_partition_id order by p.source_partition_id),
    array_agg(p.watermark order by p.source_partition_id),
    array_agg(coalesce(p.last_activity, p.declared_since) order by p.source_partition_id),
    array_agg(
      case
        when p.declared_since is null or p.last_activity is not null then p.is_active
        else coalesce(p.declared_since < frontier and (idle_after is null or p.declared_since + idle_after > frontier), false)
      end
      order by p.source_partition_id
    ),
    array_agg(p.idle_mark order by p.source_partition_id),
    array_agg(p.declared_since is not null and p.last_activity is null order by p.source_partition_id),
    array_agg(0::bigint order by p.source_partition_id)
  into ids, own, last, active, marked, silent, back
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = rollup;

  -- the latest step is the greatest
  select s.watermark
  into combined
  from /*:schema*/errata/*.*/.watermark_step as s
  where s.rollup_id = rollup
  order by s.at desc
  limit 1;

  for event in
    with known as (
      select
        p.source_partition,
        row_number() over (order by p.source_partition_id)::integer as place,
        case when p.last_activity is null then p.declared_since end as declared_since
      from /*:schema*/errata/*.*/.source_partition as p
      where p.rollup_id = rollup
    )
    select e.place, e.at, e.watermark, e.active_until, e.is_idle, e.is_start
    from (
      select k.place, r.at, r.watermark, r.active_until, r.is_idle, false as is_start
      from pg_temp.errata_record as r
      -- as text that tells NULL from '', so that it can be hashed
      join known as k on coalesce('=' || k.source_partition, '') = coalesce('=' || r.source_partition, '')
      where r.at < bound
      union all
      select k.place, k.declared_since, null, null, false, true
      from known as k
      where k.declared_since < bound and (frontier is null or k.declared_since >= frontier)
      union all
      -- the last: settles the instant before it, and who falls idle up to the bound
      select 0, bound, null, null, false, false
    ) as e
    -- of one instant: who wakes first, then values, then idle marks
    order by e.at, e.is_idle, e.watermark nulls first
  loop
    if event.at is distinct from instant then
      loop
        if is_moved then
          if takes_max then
            select max(x.own) into candidate from unnest(own) as x (own);
          elsif cardinality(ids) = 1 then
            candidate := own[1];
          else
            select
              bool_or(x.active) as any_active,
              bool_or(x.active and x.silent) as is_held,
              max(x.own) as greatest,
              min(x.own) filter (where x.active and (x.own >= combined or combined is null)) as least
            into found_one
            from unnest(own, active, silent) as x (own, active, silent);
            candidate := case
              when not found_one.any_active then found_one.greatest
              when not found_one.is_held then found_one.least
            end;
          end if;
          if candidate > combined or (combined is null and candidate is not null) then
            combined := candidate;
            source_partition_id := null;
            at := step_at;
            watermark := combined;
            return next;
          end if;
          is_moved := false;
        end if;
        exit when due > event.at;
        select coalesce(min(x.last) + idle_after, 'infinity')
        into due
        from unnest(last, active) as x (last, active)
        where x.active;
        exit when due > event.at;
        active := array(
          select x.active and x.last + idle_after > due
          from unnest(last, active) with ordinality as x (last, active, place)
          order by x.place
        );
        step_at := greatest(due - interval '1 microsecond', frontier);
        is_moved := true;
      end loop;
      instant := event.at;
      step_at := instant;
    end if;

    place := event.place;
    continue when place = 0;
    if event.is_start then
      if silent[place] then
        active[place] := true;
        due := least(due, instant + idle_after);
      end if;
      continue;
    end if;
    if silent[place] then
      silent[place] := false;
      last[place] := null;
      is_moved := true;
    end if;
    if event.active_until > last[place] or last[place] is null then
      last[place] := event.active_until;
    end if;
    if event.is_idle then
      marked[place] := true;
      if active[place] then
        active[place] := false;
        is_moved := true;
      end if;
      continue;
    end if;
    if event.watermark is null then
      marked[place] := false;
    elsif marked[place] then
      continue;
    end if;
    if not active[place] then
      active[place] := true;
      due := least(due, last[place] + idle_after);
      is_moved := true;
    end if;
    if event.watermark > own[place] or own[place] is null then
      if not is_moved then
        is_moved := case
          when takes_max then combined is null or event.watermark > combined
          else combined is null or own[place] is null or own[place] <= combined
        end;
      end if;
      own[place] := event.watermark;
      if keeps_own and event.watermark is not null then
        source_partition_id := ids[place];
        at := instant;
        watermark := event.watermark;
        return next;
      end if;
    elsif is_log and event.watermark < own[place] then
      back[place] := back[place] + 1;
    end if;
  end loop;

  update /*:schema*/errata/*.*/.source_partition as p
  set
    watermark = x.own,
    last_activity = case when not x.silent then x.last end,
    is_active = x.active,
    idle_mark = x.marked,
    went_back = p.went_back + x.back,
    carried_at = c.at,
    carried_watermark = c.watermark
  from unnest(ids, own, last, active, marked, silent, back) as x (id, own, last, active, marked, silent, back)
  left join (
    select q.source_partition_id, r.at, max(r.watermark) as watermark
    from pg_temp.errata_record as r
    join /*:schema*/errata/*.*/.source_partition as q
      on q.rollup_id = rollup
      and coalesce('=' || q.source_partition, '') = coalesce('=' || r.source_partition, '')
    where r.at = bound
    group by q.source_partition_id, r.at
  ) as c on c.source_partition_id = x.id
  where p.source_partition_id = x.id;
end
$function$;

revoke execute on function /*:schema*/errata/*.*/.combine_watermark from public;
