/** The placeholders of license texts: `[year]`, `<name of author>`, `[fullname]`. */
const placeholder =
  /[[<{](year|yyyy|project|description|one line to give [^\]>}]{1,80}|fullname|name of (?:author|copyright owner))[\]>}]/gi;

export type Values = { year: string; project?: string | undefined; fullname?: string | undefined };

const isBlank = (value: string | undefined): boolean => value === undefined || value.trim() === '';

/** Replaces placeholders that have a value; keeps the others. */
export const fillPlaceholders = (text: string, { year, project, fullname }: Values): string =>
  text.replace(placeholder, (whole: string, name: string) => {
    if (/^y/i.test(name)) return year;
    const value = /name/i.test(name) && !/^one/i.test(name) ? fullname : project;
    return isBlank(value) ? whole : (value ?? whole);
  });
