-- What bronze says today of the days that are sealed, by plain SQL: no function or table of Errata's but for the last
-- sealed day. Rows dated more than three hours after their arrival do not count.
select
  count(*) as changes,
  sum(c.files) as files,
  sum(c.insertions) as insertions,
  sum(c.deletions) as deletions
from bronze.changes as c
where c.event_time <= c.ingested_at + interval '3 hours'
  and c.event_time < (select max(r.window_end) from gold.daily_changes_reconciliation as r);
