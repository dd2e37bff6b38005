/** What a screen reader would say of a page: the accessibility tree of Chromium, in reading order. */
import type { Page } from 'playwright-core';

type Spoken = {
  role: string;
  name: string;
  /** Of a heading. */
  level: number | null;
  /** Changes are read aloud, as of `role="status"`. */
  isLive: boolean;
  isChecked: boolean;
};

type Value = { value?: unknown };

type AxNode = {
  nodeId: string;
  ignored: boolean;
  role?: Value;
  name?: Value;
  properties?: { name: string; value: Value }[];
  childIds?: string[];
};

/** Containers without a meaning of their own, and parts of texts. */
const silentRoles = new Set(['generic', 'none', 'InlineTextBox', 'ListMarker', 'RootWebArea', 'LineBreak']);

const toText = (value: Value | undefined): string =>
  typeof value?.value === 'string' ? value.value.replaceAll(/\s+/g, ' ').trim() : '';

const toSpoken = ({ role, name, properties = [] }: AxNode): Spoken => {
  const property = (wanted: string): unknown => properties.find((one) => one.name === wanted)?.value.value;
  const level = property('level');
  return {
    role: toText(role),
    name: toText(name),
    level: typeof level === 'number' ? level : null,
    isLive: ['polite', 'assertive'].includes(String(property('live'))),
    isChecked: property('checked') === 'true',
  };
};

/** Lists the parts of a page that are read, in order. */
export const readPage = async (page: Page): Promise<Spoken[]> => {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: AxNode[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const spoken: Spoken[] = [];
  const pending = nodes.slice(0, 1);
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const one = toSpoken(node);
    if (!node.ignored && !silentRoles.has(one.role)) spoken.push(one);
    const children = (node.childIds ?? []).map((id) => byId.get(id)).filter((child) => child !== undefined);
    pending.push(...children.toReversed());
  }
  return spoken;
};

/** Formats a part as `heading 2: Activity`. */
export const toLine = ({ role, name, level, isChecked }: Spoken): string =>
  `${role}${level === null || role !== 'heading' ? '' : ` ${level}`}${isChecked ? ' (checked)' : ''}: ${name}`;

/** Lists the texts that are read aloud without being reached, as they stand in live regions. */
export const listAnnouncements = (spoken: readonly Spoken[]): string[] =>
  spoken.flatMap(({ isLive }, at) => (isLive ? [spoken[at + 1]?.name ?? ''] : []));

const controls = new Set([
  ...'button link checkbox radio textbox searchbox combobox listbox spinbutton slider switch tab'.split(' '),
  ...'menuitem option DisclosureTriangle DisclosureTriangleGrouped PopUpButton Date ColorWell'.split(' '),
]);
const namedParts = new Set(['heading', 'navigation', 'region', 'img', 'image', 'columnheader', 'rowheader']);

const repeated = (names: readonly string[]): string[] =>
  names.filter((name, at) => names.indexOf(name) !== at);

/** Lists what is wrong on any page: landmarks, headings, and names of controls. */
export const readingFaults = (spoken: readonly Spoken[]): string[] => {
  const of = (role: string): Spoken[] => spoken.filter((one) => one.role === role);
  const first = spoken.findIndex(({ role, level }) => role === 'heading' && level === 1);
  const main = spoken.findIndex(({ role }) => role === 'main');
  const unnamed = spoken.filter(
    ({ role, name }) => name === '' && (controls.has(role) || namedParts.has(role)),
  );
  return [
    ...['banner', 'main', 'contentinfo'].flatMap((role) =>
      of(role).length === 1 ? [] : [`${of(role).length} landmarks of the role ${role}`],
    ),
    ...(of('heading').filter(({ level }) => level === 1).length === 1 ? [] : ['not one heading of level 1']),
    ...(first > main ? [] : ['the heading of level 1 is outside of the content']),
    ...repeated(of('navigation').map(({ name }) => name)).map((name) => `several navigations named ${name}`),
    ...unnamed.map(({ role }, at) => `${role} without a name (${at + 1})`),
  ];
};
