-- Delays that differ (R2). Of a step of the watermark: the delay by which it was reckoned, so that the watermark of a
-- key with another one can be told from it. Under `fixed_delay` with a delay in each row: the greatest delay that has come
-- by then; from just after `at` on the watermark stands at the clock less this delay, or where it stood before, whichever
-- is later. NULL: the rollup's own delay.
alter table /*:schema*/errata/*.*/.watermark_step add column delay interval;
