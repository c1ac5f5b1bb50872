-- Evidence: what of the guard is not in force (R8). Rows out: one a missing or disabled trigger, and one a table that
-- inherits from the ledger, through which rows would appear in it.
--
-- Safe to repeat: it reads.
with guard (relation, trigger_name) as (
  values
    (to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/), 'errata_refuse_change'),
    (to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/), 'errata_refuse_truncate'),
    (to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/), 'errata_accept_seal'),
    (to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/), 'errata_check_versions'),
    (to_regclass(/*:evidence_name*/'errata.daily_orders_evidence'/*.*/), 'errata_refuse_change'),
    (to_regclass(/*:evidence_name*/'errata.daily_orders_evidence'/*.*/), 'errata_refuse_truncate')
)
select
  g.relation::text as relation,
  g.trigger_name,
  case when t.oid is null then 'is missing' when t.tgenabled = 'D' then 'is disabled' else 'does not always fire' end as state
from guard as g
left join pg_catalog.pg_trigger as t on t.tgrelid = g.relation and t.tgname = g.trigger_name
where t.tgenabled is distinct from 'A'
union all
select i.inhrelid::regclass::text, null, 'inherits from the ledger'
from pg_catalog.pg_inherits as i
where i.inhparent = to_regclass(/*:ledger_name*/'gold.daily_orders'/*.*/)
order by 1, 2
