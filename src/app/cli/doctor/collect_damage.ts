/** Collects the damage that a thorough check finds: the first findings in full, the rest as a number. */
import { type Finding, fail, ok } from './finding.ts';

const maxShown = 100;

export type DamageCollector = {
  add: (finding: Finding) => void;
  /** Returns the findings. @param detailIfSound detail of the only finding when there is no damage */
  findings: (detailIfSound: string) => Finding[];
};

/** @param check the name of the summary finding: no damage, or more damage than listed */
export const collectDamage = (check: string): DamageCollector => {
  const listed: Finding[] = [];
  let count = 0;
  return {
    add: (finding) => {
      count += 1;
      if (listed.length < maxShown) listed.push(finding);
    },
    findings: (detailIfSound) => {
      if (count === 0) return [ok(check, detailIfSound)];
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
