/** Roles of members, by their number in the API. */
export const levels = { guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 } as const;

export const memberLevels: readonly number[] = Object.values(levels);
