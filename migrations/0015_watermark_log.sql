-- How a log of watermarks was last looked through as a whole, for the entries that come long behind the frontier (R6).
create table /*:schema*/errata/*.*/.watermark_log_look (
  rollup_id integer primary key references /*:schema*/errata/*.*/.rollup,
  -- entries from here on are counted again by every run
  recounted_from timestamptz not null,
  -- the tables of the log then, the oldest transaction that was still running, and the later ones whose entries were seen
  relations oid[] not null,
  horizon xid8 not null,
  seen int8multirange not null
);
