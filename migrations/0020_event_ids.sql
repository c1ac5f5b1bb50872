-- Where an index on the event id answers: between which ids those of an ingestion partition lay when it was last read, as text. An id
-- that a late row bears is looked up only where it can be. NULL: not known.
alter table /*:schema*/errata/*.*/.ingestion_partition
  add column event_id_from text,
  add column event_id_to text;
