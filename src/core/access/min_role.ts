import { invalid } from '../../platform/errors.ts';
import { levels, memberLevels } from './levels.ts';

type RoleFilters = {
  owned?: boolean | undefined;
  membership?: boolean | undefined;
  min_access_level?: number | undefined;
};

/**
 * Returns the minimum role that a list's filters request; 0 if none.
 * @throws Failure 400 for a role that does not exist
 */
export const getMinRole = ({ owned, membership, min_access_level = 0 }: RoleFilters): number => {
  if (min_access_level !== 0 && !memberLevels.includes(min_access_level)) {
    throw invalid({ min_access_level: ['does not have a valid value'] });
  }
  return Math.max(
    min_access_level,
    membership === true ? levels.guest : 0,
    owned === true ? levels.owner : 0,
  );
};
