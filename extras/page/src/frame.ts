// Many changes in quick succession are drawn together: they wait for the browser's next frame, and are made at once.
import { batch } from '@preact/signals';

const waiting: Array<() => void> = [];

/** Makes a change when the next frame is drawn, together with the others. Nobody sees a hidden page: there it is made soon. */
export function inFrame(change: () => void): void {
  if (waiting.push(change) > 1) return;
  if (document.hidden) setTimeout(run);
  else requestAnimationFrame(run);
}

const run = (): void => batch(() => waiting.splice(0).forEach(make));

/** Makes a change. If it fails, the others are made all the same. */
function make(change: () => void): void {
  try {
    change();
  } catch (error) {
    reportError(error);
  }
}

document.addEventListener('visibilitychange', run); // a page that is hidden gets no frame for what waits
