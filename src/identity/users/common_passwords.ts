/** The most common passwords of at least eight characters, in lower case. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  00000000 01234567 0123456789 11111111 111111111 1111111111 1122334455 11223344 12121212 12312312 123123123
  123321123 1234512345 12345678 123456789 1234567890 12345678910 123456789a 12341234 1234qwer 123qweasd
  123qwe123 147258369 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2 5iveL!fe 87654321 88888888 987654321 9876543210
  a1234567 a12345678 a123456789 aa123456 aa12345678 abc12345 abcd1234 abcdefgh admin123 admin1234 administrator
  adminadmin asdf1234 asdfasdf asdfghjk asdfghjkl babygirl baseball basketball bismillah butterfly changeit
  changeme changeme1 changeme123 charlie1 chocolate computer corvette default1 dragon123 elizabeth facebook
  football football1 gitlab123 google123 guest1234 hallo123 hello123 helloworld iloveyou iloveyou1 iloveyou2
  internet jennifer jordan23 letmein1 letmein123 liverpool lovelove manchester maverick michelle midnight
  minecraft mustang1 mypassword naruto123 pa55word p@ssw0rd p@ssword passw0rd passwd123 password password!
  password0 password01 password1 password1! password12 password123 password1234 password2 password@123 pokemon123
  princess princess1 q1w2e3r4 q1w2e3r4t5 qazwsxedc qweasdzxc qwer1234 qwerty12 qwerty123 qwerty1234 qwertyui
  qwertyuiop qwertz123 rockyou1 root1234 rootroot samantha secret123 sunshine sunshine1 superman superman1
  starwars system123 temp1234 test1234 test12345 testtest trustno1 user1234 victoria welcome1 welcome123
  whatever zaq12wsx zxcvbnm1 zxcvbnm123
  `
    .toLowerCase()
    .trim()
    .split(/\s+/),
);
