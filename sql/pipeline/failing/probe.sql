-- Failing: of which groups can a measure not be computed (R19)? Only asked after a statement that computes measures has
-- failed: the groups are halved until those are left that fail by themselves, which is about two steps a failing group
-- and binary digit of their number. No run pays for it in which nothing fails.
--
-- Inputs: pg_temp.errata_counted, a group of rows for each `errata_place`. Rows out: one a failing group, into
-- pg_temp.errata_probed. What is no fault of a row ends the run, as does a measure of which more
-- than 10,000 groups fail: then it is the measure that is wrong. Safe to repeat: writes work tables only.
do $errata_probe$
#variable_conflict use_column
declare
  errata_from bigint[];
  errata_to bigint[];
  errata_lo bigint;
  errata_hi bigint;
  errata_failed integer := 0;
begin
  select array[1], array[max(r.errata_place)] into errata_from, errata_to from pg_temp.errata_counted as r;
  while cardinality(errata_from) > 0 and errata_to[1] is not null loop
    errata_lo := errata_from[cardinality(errata_from)];
    errata_hi := errata_to[cardinality(errata_to)];
    errata_from := trim_array(errata_from, 1);
    errata_to := trim_array(errata_to, 1);
    begin
      perform /*:each measure*/ /*:measure_value*/sum(amount)/*.*/, /*:end*/ count(*)
      from pg_temp.errata_counted as r
      where r.errata_place between errata_lo and errata_hi
      group by r.errata_place;
    exception when others then
      if not /*:is_fault_of_row*/(sqlstate ~ '^(22|P0)')/*.*/ or errata_failed >= 10000 then
        raise;
      end if;
      if errata_lo = errata_hi then
        errata_failed := errata_failed + 1;
        insert into pg_temp.errata_probed (place, error) values (errata_lo, format('%s (%s)', sqlerrm, sqlstate));
      else
        errata_from := errata_from || ((errata_lo + errata_hi) / 2 + 1) || errata_lo;
        errata_to := errata_to || errata_hi || ((errata_lo + errata_hi) / 2);
      end if;
    end;
  end loop;
end
$errata_probe$
