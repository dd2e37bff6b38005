/** Roles of members by name. */
import { levels } from '../../../../core/access/levels.ts';

const roleNames: Readonly<Record<number, string>> = {
  [levels.guest]: 'Guest',
  [levels.reporter]: 'Reporter',
  [levels.developer]: 'Developer',
  [levels.master]: 'Maintainer',
  [levels.owner]: 'Owner',
};

export const nameRole = (level: number): string => roleNames[level] ?? String(level);
