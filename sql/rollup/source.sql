-- Bronze in Errata's words: the one place where the user's columns are mapped. A function and not a view, so that
-- bronze can be altered or dropped without asking Errata; PostgreSQL inlines it, so conditions reach bronze's indexes.
-- Rows out: one a bronze row. errata_quarantine depends on the row alone (R4). errata_is_valid: it is in no quarantine and is
-- no heartbeat; asked for as `errata_quarantine is null`, which the planner takes one row in two hundred to pass, it led to
-- nested loops over all of bronze. Of a case it knows nothing, and takes every second.
create or replace function /*:source*/errata.daily_orders_source/*.*/ ()
returns table (
  errata_event_id text,
  errata_event_time timestamptz,
  errata_ingested_at timestamptz,
  errata_arrived_at timestamptz,
  errata_source_partition text,
  errata_is_heartbeat boolean,
  errata_quarantine text,
  errata_is_valid boolean,
  errata_row_digest text,
  errata_row_age integer,
  errata_relation oid
  /*:span_columns*/, errata_delay interval, errata_allowed_lateness interval/*.*/
  /*:each column*/ , /*:column*/region/*.*/ /*:column_type*/text/*.*/ /*:end*/
)
language sql stable parallel safe
as $errata_source$
  select
    /*:event_id_value*/b.order_id::text/*.*/,
    b.errata_event_time,
    b.errata_ingested_at,
    b.errata_arrived_at,
    /*:source_partition_value*/b.kafka_partition::text/*.*/,
    b.errata_is_heartbeat,
    b.errata_quarantine,
    case when b.errata_quarantine is null and not b.errata_is_heartbeat then true else false end,
    /*:row_digest_value*/md5(row(b.order_id, b.errata_event_time, b.errata_ingested_at, b.region, b.amount)::text)/*.*/,
    /*:row_age_value*/age(b.errata_xmin)/*.*/,
    /*:relation_value*/b.errata_tableoid/*.*/
    /*:span_values*/, b.delay, b.allowed_lateness/*.*/
    /*:each column*/ , b./*:column*/region/*.*/ /*:end*/
  from (
    select
      b.*,
      coalesce((/*:heartbeat_value*/false/*.*/), false) as errata_is_heartbeat,
      case
        -- nearly every row, which is then asked for none of the reasons: they took as long as the reading
        when isfinite(b.errata_event_time) and isfinite(b.errata_ingested_at) and (b.errata_event_time <= b.errata_arrived_at or not (/*:future_skew_test*/b.errata_event_time > b.errata_arrived_at + interval '1 hour'/*.*/)) then null
        when b.errata_event_time is null then 'event_time_null'
        when not isfinite(b.errata_event_time) then 'event_time_infinite'
        when b.errata_ingested_at is null then 'ingested_at_null'
        when not isfinite(b.errata_ingested_at) then 'ingested_at_infinite'
        when /*:future_skew_test*/b.errata_event_time > b.errata_arrived_at + interval '1 hour'/*.*/ then 'event_time_ahead_of_arrival'
      end as errata_quarantine
    from (
      select
        b.*,
        /*:system_columns*/b.xmin as errata_xmin, b.tableoid as errata_tableoid,/*.*/
        /*:event_time_value*/b.ordered_at/*.*/ as errata_event_time,
        /*:ingested_at_value*/b.ingested_at/*.*/ as errata_ingested_at,
        /*:arrived_at_value*/b.ingested_at/*.*/ as errata_arrived_at
      from /*:bronze*/bronze.orders/*.*/ as b
    ) as b
  ) as b
$errata_source$;

revoke execute on function /*:source*/errata.daily_orders_source/*.*/ from public;
