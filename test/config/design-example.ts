// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variable is part of the file
/** The example of DESIGN.md section 3, to the letter. */
export const designExample = `database: \${DATABASE_URL}            # left out: an embedded PostgreSQL
schema: errata
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze:
      table: bronze.orders
      event_id: order_id
      event_time: ordered_at
      ingested_at: ingested_at
      source_partition: kafka_partition      # optional
      complete_from: 2026-01-01              # optional (R15)
    window: { calendar: 1 day, time_zone: Europe/Berlin }   # or { tumbling: 5 minutes }, { hopping: 1 hour, every: 5 minutes }, { session_gap: 30 minutes }
    key: [region]
    measures:
      orders: count(*)
      revenue: sum(amount)
    watermark: { strategy: bounded, delay: 10 minutes, idle_after: 5 minutes, max_future_skew: 1 hour }
    allowed_lateness: 24 hours
    seal: { by: errata }             # or { by: stream, after: 15 minutes }, { from: analytics.daily_orders, after: 15 minutes }
    publish: { policy: grace, review_beyond: { revenue: 1000.00 }, horizon: 400 days }
    schedule: { cron: "*/15 * * * *", time_zone: UTC }
periods: { calendar: month, time_zone: Europe/Berlin }
`;
