-- A proposal over sessions names what it would replace; of one that would make a session void, the session that has its
-- rows now (R6s). Under other windows both are null.
alter table /*:schema*/errata/*.*/.proposal
  add column replaces jsonb,
  add column replaced_by jsonb;
