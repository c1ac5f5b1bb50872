-- Rows that have no lateness, by reason (R4). Rows out: one a reason.
--
-- Inputs: pg_temp.errata_lateness. Safe to repeat: it reads.
select c.errata_set_aside as reason, count(*)::text as rows
from pg_temp.errata_lateness as c
where c.errata_set_aside is not null
group by c.errata_set_aside
order by count(*) desc, c.errata_set_aside
