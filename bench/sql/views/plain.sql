-- What `latest` gives, as rows of a plain table in the order of windows.
create table bench.plain as
select * from gold.orders_latest order by window_start, region
