import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import type { Html } from '../../parts/html.ts';

const ways = [
  ['/projects/new', 'New'],
  ['/projects/import', 'Import'],
] as const;

/** Renders tabs of the ways to create a project. */
export const creationTabs = (current: (typeof ways)[number][0]): Html =>
  tabs(
    'Ways to create a project',
    ways.map(([path, name]) => ({ path, name, isHere: path === current })),
  );
