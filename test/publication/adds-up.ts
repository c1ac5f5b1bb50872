/** R14 by SQL of its own: the view adds up for every keyed window, and `restated` is what bronze gives over first copies. */
import { expect } from 'vitest';
import type { Orders } from '../support/orders.ts';
import { reconciled, windowLines } from '../support/reconcile.ts';

/** Of orders by day: nothing is left over. Rows that are still in quarantine count nowhere. */
export async function expectAddsUp(orders: Orders): Promise<void> {
  const wrong = await orders.rows(`
    with bronze as (
      select ordered_at::date as day, region, sum(amount) as revenue
      from (
        select distinct on (ordered_at::date, order_id) *
        from bronze.orders as o
        where not exists (
          select from gold.daily_orders_late_event as e
          where e.event_id = o.order_id and e.window_start is null and not e.released
        )
        order by ordered_at::date, order_id, ingested_at
      ) as o
      group by 1, 2
    )
    select r.*, b.revenue as bronze
    from gold.daily_orders_reconciliation as r
    left join bronze as b on b.day = r.local_date and b.region is not distinct from r.region
    where sealed_revenue + corrections_revenue <> latest_revenue
      or corrections_revenue <> late_firing_revenue + straggler_revenue + refused_revenue + quarantine_release_revenue
        + seal_mismatch_revenue + stream_emission_revenue + source_change_revenue + other_revenue
      or latest_revenue + pending_revenue + held_revenue + waived_revenue <> restated_revenue
      or restated_revenue <> coalesce(b.revenue, 0)`);
  expect(wrong).toEqual([]);
  // and by counting anew, to the number of events
  const lines = windowLines(await reconciled(orders));
  expect(lines.filter((line) => !line.includes(' explained: '))).toEqual([]);
}
