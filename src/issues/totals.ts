import type { RawBuilder } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Project } from '../projects/find.ts';

const mostCached = 2000;

type Cached = { version: number; total: number };

/** Totals by the text of their condition; each service has its own. */
const caches = new WeakMap<Platform, Map<string, Cached>>();

const cacheOf = (platform: Platform): Map<string, Cached> => {
  const known = caches.get(platform);
  if (known !== undefined) return known;
  const fresh = new Map<string, Cached>();
  caches.set(platform, fresh);
  return fresh;
};

/**
 * A filtered total of one project, counted again only after an issue of the project changed. The condition holds
 * the viewer and the filters, so it is the whole key.
 */
export const cachedTotal = async (
  platform: Platform,
  { issues_version }: Project,
  condition: RawBuilder<boolean>,
  count: () => Promise<number>,
): Promise<number> => {
  const cache = cacheOf(platform);
  const { sql: text, parameters } = condition.compile(platform.store.db);
  const key = `${text}\n${JSON.stringify(parameters)}`;
  const known = cache.get(key);
  if (known?.version === issues_version) return known.total;
  const total = await count();
  if (cache.size >= mostCached) cache.delete(cache.keys().next().value ?? '');
  cache.set(key, { version: issues_version, total });
  return total;
};
