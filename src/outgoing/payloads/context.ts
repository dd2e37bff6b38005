/** Inputs of a payload, in addition to its snapshot. */
import type { Site } from '../../core/access/site.ts';
import type { Platform } from '../../core/platform.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { sshPrefix } from '../../projects/projects/ssh_url.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';

export type Context = {
  site: Site;
  platform: Pick<Platform, 'git' | 'config'>;
  /** Prefix of SSH clone URLs. */
  ssh: string;
  snapshot: Snapshot;
};

/** JSON of a payload; `null` members are sent. */
export type Payload = { [name: string]: unknown };

const getSshPrefix = memoizePerStore((platform: Platform) => {
  const prefixes = new Map<string, string>();
  return (baseUrl: string): string => {
    const prefix = prefixes.get(baseUrl) ?? sshPrefix(baseUrl, platform.config);
    prefixes.set(baseUrl, prefix);
    return prefix;
  };
});

export const makeContext = (platform: Platform, snapshot: Snapshot): Context => {
  const baseUrl = platform.baseUrl();
  return {
    site: { baseUrl, settings: platform.settings.current },
    platform,
    ssh: getSshPrefix(platform)(baseUrl),
    snapshot,
  };
};
