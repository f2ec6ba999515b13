// What the failure lab, a script of its own in the program that has a lab, may use of the page.
export interface PageForLab {
  changed: () => void;
  pane: () => { viewer: { id: string; name: string }; selected: string; thread: { version: number } | null } | undefined;
  post: (text: string) => Promise<number>; // the version, once it is known
  headers: () => Record<string, string>;
  withToken: boolean;
}
