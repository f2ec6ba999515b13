// What the failure lab, a script of its own in the program that has a lab, may use of the page. Beside this it uses the
// page's copy of the packages, which main.tsx exports.
export interface PageForLab {
  ready: () => boolean; // a thread is open
  pane: () => { viewer: { id: string; name: string }; selected: string; version: number } | undefined;
  post: (text: string) => Promise<number>; // the version, once it is known
  headers: () => Record<string, string>;
  withToken: boolean;
}
