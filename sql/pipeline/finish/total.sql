-- What all runs of the rollup have counted together, in the commit of each: metrics need no sum over history.
--
-- $1 rollup_id: integer
-- $2 counts: jsonb
--
-- Rows out: none. Safe to repeat only with the run: it adds.
insert into /*:schema*/errata/*.*/.run_total as t (rollup_id, name, total)
select $1::integer, c.key, c.value::numeric
from jsonb_each_text($2::jsonb || '{"runs": 1}') as c
where c.key in (
  'runs', 'rows_examined', 'late_firing', 'side_output', 'stragglers', 'quarantined', 'conflicts', 'windows_sealed', 'windows_corrected', 'windows_proposed'
)
order by c.key
on conflict (rollup_id, name) do update set total = t.total + excluded.total
