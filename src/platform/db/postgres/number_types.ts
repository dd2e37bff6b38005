import pg from 'pg';

const int8 = 20;
const numeric = 1700;

/** Reads 64-bit integers as numbers: every integer of the schema fits exactly. */
export const numberTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format),
};
