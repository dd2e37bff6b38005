/** What a thorough check found: each damage up to a limit, and how many more there are. */
import { type Finding, fail, ok } from './doctor_finding.ts';

const shown = 100;

export type Damages = {
  add: (finding: Finding) => void;
  /** @param sound what is said where there is no damage */
  findings: (sound: string) => Finding[];
};

/** @param check the name of the finding that says that there are none, or more */
export const collectDamages = (check: string): Damages => {
  const listed: Finding[] = [];
  let count = 0;
  return {
    add: (finding) => {
      count += 1;
      if (listed.length < shown) listed.push(finding);
    },
    findings: (sound) => {
      if (count === 0) return [ok(check, sound)];
      const more = count - listed.length;
      return more === 0
        ? listed
        : [...listed, fail(check, `${more} more are damaged`, 'repair these, then run it again')];
    },
  };
};
