-- A proposal over sessions names what it would replace; of one that would make a session void, the session that has its
-- rows now (R6s). Under other windows both are null.
alter table /*:schema*/errata/*.*/.proposal
  add column replaces jsonb,
  add column replaced_by jsonb;

-- Notices that were delivered are deleted when their time is up.
create index outbox_delivered on /*:schema*/errata/*.*/.outbox (delivered_at) where delivered_at is not null;
