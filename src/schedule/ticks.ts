/**
 * What nudges a server: at each full minute, which no schedule is finer than, by node-cron. Its own reading of a schedule
 * would leave out the hour that the clock skips; and it waits for an instant of this machine's clock, so where that steps back
 * it is silent as long. A timer that knows no clock nudges then, at most a minute late.
 */
import { schedule } from 'node-cron';

const minute = 60_000;

/** @returns what ends the ticks. */
export function startTicks(tick: () => void): () => Promise<void> {
  const onTheMinute = schedule('* * * * *', tick, { timezone: 'UTC', suppressMissedWarning: true });
  const steady = setInterval(tick, minute);
  return async () => {
    clearInterval(steady);
    await onTheMinute.destroy();
  };
}
