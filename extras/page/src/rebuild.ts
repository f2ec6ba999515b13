// A rebuild of the read model: asks for one, and follows it to what really becomes of it, by the updater's health and figures.
import { ask } from './api.ts';
import type { ProgramStatus, Rebuild } from './requests.ts';
import { programOf, readStatus } from './status.ts';
import { inTime } from './words.ts';

/** What has become of a rebuild. */
export interface Rebuilt {
  ended: boolean; // the rows are new
  seen: Rebuild | undefined; // as it was when it was last seen to run; undefined: it never was
  text: string; // for people
}

const begins = 10_000; // milliseconds: it usually begins within two seconds
const silent = 60_000; // milliseconds that the updater may not answer
const look = 250; // milliseconds
const often = 8; // looks: one may find the updater's database busy

const finished = 'projection_rebuild_done_timestamp_seconds';
const again = 'Mend the cause and press Rebuild ten seconds later: it goes on where it has stopped.';

const updater = (): ProgramStatus | undefined => programOf('read-model-updater');

/** How far a rebuild is. */
export const inNumbers = ({ phase, events, events_total: total }: Rebuild): string => `${phase}: ${events.toLocaleString()} of ${total.toLocaleString()} events`;

/** Has the rows rebuilt, unless somebody does already. Each time it has looked it calls meanwhile. It fails where that does, or if the updater refuses. */
export async function rebuild(meanwhile: (now: Rebuild | undefined) => Promise<void> | void): Promise<Rebuilt> {
  await readStatus();
  const before = updater();
  const old = before?.health?.rebuild;
  const isOn = (now: Rebuild | undefined): boolean => now !== undefined && !now.failure && !now.interrupted;
  let seen = isOn(old) ? old : undefined;
  if (!seen) await ask('POST /operate/rows/rebuild', {});
  const asked = performance.now();
  await meanwhile(seen);
  for (let heard = asked, gone = 0; ; ) {
    await new Promise((next) => setTimeout(next, look));
    await readStatus();
    const [found, waited] = [updater(), performance.now() - asked];
    const now = found?.health?.rebuild;
    if (isOn(now)) seen = now;
    await meanwhile(seen);
    const over = (text: string, ended = false): Rebuilt => ({ ended, seen, text });
    if (!found?.up) {
      if (performance.now() - heard > silent) return over('The read-model-updater does not answer: what has become of the rebuild is not known.');
      continue;
    }
    heard = performance.now();
    gone = now ? 0 : gone + 1;
    if (isOn(now)) continue;
    const done = found.figures[finished];
    if (now) {
      // It may be an earlier one that has stopped, with which this one has not gone on yet.
      const rows = now.phase === 'settling' ? 'The new rows are live.' : 'The rows are the old ones, and are read as before.';
      if (now.failure && (seen || now.failure !== old?.failure || waited > begins)) return over(`The rebuild has stopped: ${now.failure}. ${rows} ${again}`);
      if (now.interrupted && waited > begins) return over(`The rebuild was interrupted. ${rows} ${again}`);
    } else if (done === undefined) {
      if (seen || waited > begins) return over(`${seen ? 'The rebuild runs no more' : 'No rebuild was seen'}. Its end is not known here, because the updater's figures are missing: the log says it.`);
    } else if (done > (before?.figures[finished] ?? 0)) return over(`The rebuild has ended after ${inTime(performance.now() - asked)}: the rows are new.`, true);
    else if (seen && gone > often) return over('The rebuild was cancelled: the rows are the old ones.');
    else if (!seen && waited > begins) return over(`The rebuild has not begun within ${begins / 1000} s: the rows are the old ones. The updater's log says why; threadctl rows rebuild begins one, too, and says it.`);
  }
}
