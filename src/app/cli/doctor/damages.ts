/** Collects the damages that a thorough check reports: up to a limit one by one, then their number. */
import { type Finding, fail, ok } from './finding.ts';

const maxShown = 100;

export type Damages = {
  add: (finding: Finding) => void;
  /** @param sound the detail of the finding when there is no damage */
  findings: (sound: string) => Finding[];
};

/** @param check the name of the summary finding: no damage, or more damage than listed */
export const collectDamages = (check: string): Damages => {
  const listed: Finding[] = [];
  let count = 0;
  return {
    add: (finding) => {
      count += 1;
      if (listed.length < maxShown) listed.push(finding);
    },
    findings: (sound) => {
      if (count === 0) return [ok(check, sound)];
      const more = count - listed.length;
      return more === 0
        ? listed
        : [
            ...listed,
            fail(
              check,
              `${more} more ${more === 1 ? 'is' : 'are'} damaged`,
              'repair these, then run "gantry doctor --thorough" again',
            ),
          ];
    },
  };
};
