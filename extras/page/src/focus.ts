// Keeps the focus on the page: where an element that has it vanishes, or can't be used for a while, browsers give the
// focus to the document, and who uses a keyboard or a screen reader has to start from the top. The page stays where it is.

let last: HTMLElement | null = null;
let around: HTMLElement[] = []; // the elements around it, the nearest first

const usable = (element: HTMLElement): boolean => element.isConnected && !(element as HTMLButtonElement).disabled;

export function keepFocus(root: HTMLElement): void {
  root.addEventListener('focusin', (event) => {
    last = event.target as HTMLElement;
    around = event.composedPath().filter((each): each is HTMLElement => each instanceof HTMLElement && root.contains(each)).slice(1);
  });
  root.addEventListener('focusout', () => {
    const left = last;
    queueMicrotask(() => {
      if (left === last && left && usable(left) && document.activeElement === document.body) last = null; // somebody clicked beside it
    });
  });
  new MutationObserver(() => {
    if (!last || document.activeElement !== document.body) return;
    const nearest = around.find((each) => each.isConnected && each.tabIndex >= -1 && each.hasAttribute('tabindex')) ?? document.getElementById('main');
    if (usable(last)) last.focus({ preventScroll: true });
    else if (!last.isConnected) nearest?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
}
