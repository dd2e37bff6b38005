/** Checks until when the certificates of remote storages are valid. */
import type { Config } from '../../../platform/config/fields.ts';
import { certificateNotice } from '../../../platform/git/storages.ts';
import { formatTime } from '../../../platform/time.ts';
import { openStoragesAsGuest } from '../../service/open_storages.ts';
import { type Finding, ok, warn } from './finding.ts';

const advice =
  'renew the certificate, then "systemctl reload gantry-gitd" on its machine (docs/scaling.md, Encrypted storages)';

/** A storage that does not answer is reported by another check. */
export const checkCertificates = async (
  config: Config,
  instance: string,
  now: number,
): Promise<Finding[]> => {
  const sites = config.repository_storages.filter(({ address }) => address?.isTls === true);
  if (sites.length === 0) return [];
  const git = openStoragesAsGuest({ ...config, repository_storages: sites }, instance);
  try {
    await Promise.all(sites.map(async ({ name }) => await git.status(name).catch(() => null)));
    return sites.flatMap(({ name }) => {
      const ends = git.certificateEnds(name);
      if (ends === null) return [];
      const detail = `the certificate of the storage "${name}" ends at ${formatTime(ends)}`;
      return [
        ends - now < certificateNotice ? warn('certificate', detail, advice) : ok('certificate', detail),
      ];
    });
  } finally {
    await git.stop();
  }
};
