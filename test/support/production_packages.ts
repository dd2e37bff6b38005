/** The packages of an installation without development dependencies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

type Locked = { dev?: boolean; devOptional?: boolean; optional?: boolean };

/** Lists the folders of packages that `npm ci --omit=dev` installs: `node_modules/pg`. */
export const listProductionPackages = (): string[] => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { [folder: string]: Locked };
  };
  return Object.entries(packages)
    .filter(([folder, { dev, devOptional }]) => folder !== '' && dev !== true && devOptional !== true)
    .map(([folder]) => folder);
};
