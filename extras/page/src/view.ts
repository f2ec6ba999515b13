// A very small view: h makes a description of the document, and show brings the document to it. There are no
// components with a state of their own: all state is in state.ts, and after every change the whole page is described again.

export interface VNode {
  tag: string; // '' for a text
  props: Props;
  children: VNode[];
  text: string;
}

export type Child = VNode | Child[] | string | number | boolean | null | undefined;

export type Props = Record<string, unknown> & { key?: string | number };

type Described = Node & { vnode?: VNode; handlers?: Map<string, (event: Event) => void> };

declare global {
  namespace JSX {
    interface IntrinsicElements {
      [tag: string]: Record<string, unknown>;
    }
    type Element = Child;
    interface ElementAttributesProperty {
      props: unknown;
    }
    interface IntrinsicAttributes {
      key?: string | number;
    }
  }
}

const noProps: Props = {};

/** Describes an element, or calls a function that describes some. esbuild turns <tag> into calls of it. */
export function h<P>(tag: string | ((props: P) => Child), props: P | null, ...children: Child[]): Child {
  if (typeof tag === 'function') return tag({ ...props, children } as P);
  return { tag, props: (props as Props | null) ?? noProps, children: flat(children, []), text: '' };
}

export function Fragment({ children }: { children?: Child[] }): Child {
  return children;
}

function flat(children: Child[], into: VNode[]): VNode[] {
  for (const child of children) {
    if (Array.isArray(child)) flat(child, into);
    else if (child === null || child === undefined || typeof child === 'boolean') continue;
    else if (typeof child === 'object') into.push(child);
    else into.push({ tag: '', props: noProps, children: [], text: String(child) });
  }
  return into;
}

/** Makes the children of an element what is described. */
export function show(parent: Element, described: Child): void {
  patchChildren(parent, flat([described], []));
}

const svgNamespace = 'http://www.w3.org/2000/svg';

function create(vnode: VNode, parent: Element): Described {
  if (vnode.tag === '') {
    const text: Described = document.createTextNode(vnode.text);
    text.vnode = vnode;
    return text;
  }
  const svg = vnode.tag === 'svg' || (parent.namespaceURI === svgNamespace && parent.tagName !== 'foreignObject');
  const element = svg ? document.createElementNS(svgNamespace, vnode.tag) : document.createElement(vnode.tag);
  patch(element, vnode);
  (vnode.props.created as ((element: Element) => void) | undefined)?.(element);
  return element;
}

function patch(node: Described, vnode: VNode): void {
  const before = node.vnode;
  node.vnode = vnode;
  if (vnode.tag === '') {
    if (before?.text !== vnode.text) node.textContent = vnode.text;
    return;
  }
  const element = node as Element;
  for (const name of Object.keys(before?.props ?? noProps)) {
    if (!(name in vnode.props)) setProp(element, name, undefined);
  }
  patchChildren(element, vnode.children); // before the value of a select, which has to be among them
  for (const [name, value] of Object.entries(vnode.props)) {
    if (value !== before?.props[name] || name === 'value' || name === 'checked') setProp(element, name, value);
  }
}

function setProp(element: Element & Described, name: string, value: unknown): void {
  if (name === 'key' || name === 'created') return;
  if (name.startsWith('on')) {
    setHandler(element, name.slice(2).toLowerCase(), value as ((event: Event) => void) | undefined);
  } else if (name === 'value' || name === 'checked') {
    const field = element as unknown as Record<string, unknown>;
    if (field[name] !== value) field[name] = value ?? '';
  } else if (name === 'style') {
    // By properties, because the page's Content-Security-Policy allows no style attributes.
    const style = (element as HTMLElement).style;
    style.cssText = '';
    for (const [property, setting] of Object.entries((value as Record<string, string> | undefined) ?? {})) style.setProperty(property, setting);
  } else if (value === undefined || value === null || value === false) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

function setHandler(element: Element & Described, type: string, handler: ((event: Event) => void) | undefined): void {
  const handlers = (element.handlers ??= new Map());
  if (!handlers.has(type)) element.addEventListener(type, (event) => handlers.get(type)?.(event));
  handlers.set(type, handler ?? (() => undefined));
}

/** Children with a key keep their element wherever they move; others keep it by their place among those of their tag. */
function patchChildren(parent: Element, children: VNode[]): void {
  const free = new Map<string, Described[]>();
  for (const node of [...parent.childNodes] as Described[]) {
    const name = node.vnode ? nameOf(node.vnode) : '#';
    const list = free.get(name);
    if (list) list.push(node);
    else free.set(name, [node]);
  }
  const nodes = children.map((vnode) => {
    const node = free.get(nameOf(vnode))?.shift();
    if (!node) return create(vnode, parent);
    patch(node, vnode);
    return node;
  });
  for (const list of free.values()) for (const node of list) parent.removeChild(node);
  nodes.forEach((node, at) => {
    if (parent.childNodes[at] !== node) parent.insertBefore(node, parent.childNodes[at] ?? null);
  });
}

const nameOf = (vnode: VNode): string => (vnode.props.key === undefined ? vnode.tag : `${vnode.tag} ${vnode.props.key}`);
