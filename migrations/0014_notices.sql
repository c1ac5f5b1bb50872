-- Notices are delivered at least once: who has not been reached is asked again, each time later.
alter table /*:schema*/errata/*.*/.outbox
  add column attempts integer not null default 0,
  add column next_attempt_at timestamptz,
  add column last_error text;
create index outbox_due on /*:schema*/errata/*.*/.outbox (notice_id) where delivered_at is null;
