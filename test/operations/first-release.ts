/** What the first version’s users and applications held when first-release.sql was dumped: nothing of it can be read in a database. Made for this test, of use nowhere else. */
export const FIRST_RELEASE = {
  /** When it was dumped, milliseconds since 1970. */
  at: 1795292836984,
  baseUrl: 'http://localhost:3999',
  secretKey: 'dGhlIGtleSBvZiB0aGUgZmlyc3QgcmVsZWFzZXRoZSA',
  apiToken: 'first-release-api-token-0123456789-abcd',
  users: {
    ada: { id: 'usr_TIOE4vZgnb8bYkBqWfFJ', login: 'ada', password: 'correct horse battery' },
    grace: { id: 'usr_bIsjvTPqSkH5ICEqDBey', login: 'grace', password: 'another horse battery' },
    admin: { login: 'admin', password: 'the-first-administrators-password' },
  },
  applications: {
    shop: { clientId: 'shop', clientSecret: 'the-shops-own-secret-0123456789-abcd' },
    careful: { clientId: 'careful', clientSecret: 'the-careful-ones-secret-0123456789' },
  },
  /** Ada’s browser. */
  cookies: { 'gatehouse-session': '7pUoGMbmKEyOTtpIiYG5dOUffHScWL09-7IktciZAMl', 'gatehouse-session.sig': 'vrrjUOJj2HePg1UXJkaki3rJtDE' },
  /** Hers, by server. */
  tokens: {
    'built-in': {
      access_token: 'BXWZQzkAgChiZeDM3QuY-KbB2WbO26xReLcQKKG1KV6',
      refresh_token: 'mp-GnlpOPI9bNG6_SSyaoAjakExB8yECWs1eiYKKZ_r',
      id_token:
        'eyJhbGciOiJSUzI1NiIsImtpZCI6IlhNdF83SWlBM0U3QzNPc0NiOXNXZmVJWTRLbUIwNDVjajEwWlI1M09LUU0ifQ.eyJzdWIiOiJ1c3JfVElPRTR2WmduYjhiWWtCcVdmRkoiLCJuYW1lIjoiQWRhIExvdmVsYWNlIiwiZ2l2ZW5fbmFtZSI6IkFkYSIsImZhbWlseV9uYW1lIjoiTG92ZWxhY2UiLCJ1cGRhdGVkX2F0IjoxNzk1MjkyODM2LCJlbWFpbCI6ImFkYUBleGFtcGxlLmNvbSIsImVtYWlsX3ZlcmlmaWVkIjpmYWxzZSwibm9uY2UiOiJzb21lLW5vbmNlIiwiYXVkIjoic2hvcCIsImV4cCI6MTc5NTI5NjQzNiwiaWF0IjoxNzk1MjkyODM2LCJpc3MiOiJodHRwOi8vbG9jYWxob3N0OjM5OTkvb2F1dGgvdjEifQ.sNEwFwYaar37tRgYBr4TDLBs9gpZE5WDl0uRRfFqrrbx6zy6P4bMXRMulnero8b4hj-Kh5mBL0jBIaJq6oltvfVHOgi2c4GB44MVQ7_snN0FpYW7TzFEtd4w3AEb1LYTCyKXOed3d-huxYnMEqhsweebkrwGmDWjfQSGftut8meSZwThu82CnRY3Cez0vtQ3XYEDegTAMEOS44piZWCbl5dT1HdBfoIgnTiIQhv8ldLNLsXDoY_1F7E80yhqrmZrwkLM58JvQn-jO7jRhrdErIDu9GYWK_AwiWVbGsShRW-mau8ASlY3xWrp6cCA2S2PUZ51RkzkSY0bt1IAK5r-Kg',
    },
    default: {
      access_token:
        'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IjViNkJlTG5oMTlxOEJNMVB6QmJISFRQVWRZNDdkQ29DMm9EVGhvOXRrZFEifQ.eyJqdGkiOiJKY3FCMjlTTWNKajNUWjQ4ZF9WUU55RnFVdi00bjJQS0hQNGFQY1NEbzgyIiwic3ViIjoidXNyX1RJT0U0dlpnbmI4YllrQnFXZkZKIiwiaWF0IjoxNzk1MjkyODM2LCJleHAiOjE3OTUyOTY0MzYsInNjb3BlIjoib3BlbmlkIG9mZmxpbmVfYWNjZXNzIiwiY2xpZW50X2lkIjoic2hvcCIsImlzcyI6Imh0dHA6Ly9sb2NhbGhvc3Q6Mzk5OS9vYXV0aC92MS9kZWZhdWx0IiwiYXVkIjoiYXBpOi8vZGVmYXVsdCIsIm5iZiI6MTc5NTI5MjgzNn0.xIixj9oKyvUnHIe0NhWtg7S-aHzcuO6ALVb8G9Z_XCh6xrFgO2lfIds7n6GmJRFH2vwr0yWo1einpCTbcPchEa0NKeR5-E0AwIJHtJ_miQ6KPd2M0d-s7Q_TchbCqGXc0MGmotLntlZYiYp6ybCswDMtJgzJFQnhDKww1U3jZeYlr1YJ-BgldwmOsfJh9qZm-XPfQtY3rxTYFawYDcqzwN_Mns2PaOts6jp-hsLjE7LwI8Cdz7SfPUuZcisWqw3qB-k-5uN_WRF2Zm1TGu1hqUFfLtXXR7zhsDWcgTJVgh9yrCzAG2cRm5PnKLEZIBp-2Q3oGhzO8fqN8raDLSOrmw',
      refresh_token: 'LjPsXIJf4_NqvKdV3c9kpgpI9cXDt4rpuw88SwiryJs',
      id_token:
        'eyJhbGciOiJSUzI1NiIsImtpZCI6IjViNkJlTG5oMTlxOEJNMVB6QmJISFRQVWRZNDdkQ29DMm9EVGhvOXRrZFEifQ.eyJzdWIiOiJ1c3JfVElPRTR2WmduYjhiWWtCcVdmRkoiLCJuYW1lIjoiQWRhIExvdmVsYWNlIiwiZ2l2ZW5fbmFtZSI6IkFkYSIsImZhbWlseV9uYW1lIjoiTG92ZWxhY2UiLCJ1cGRhdGVkX2F0IjoxNzk1MjkyODM2LCJlbWFpbCI6ImFkYUBleGFtcGxlLmNvbSIsImVtYWlsX3ZlcmlmaWVkIjpmYWxzZSwibm9uY2UiOiJzb21lLW5vbmNlIiwiYXVkIjoic2hvcCIsImV4cCI6MTc5NTI5NjQzNiwiaWF0IjoxNzk1MjkyODM2LCJpc3MiOiJodHRwOi8vbG9jYWxob3N0OjM5OTkvb2F1dGgvdjEvZGVmYXVsdCJ9.eTWsgdC1idhQ_38unrK0Wo6Tig7uje0W-k4xQD_775g6-DRayxpr4jv4C9DHGz60ovxt8HhVJ_f9UuW5h2kn158uNU6D1qUDdZBPkKTAz5MscUGdzwsUw2aM0bfFViwxrFfJ9LNdIdTYth-Xup8h58-_Q-Ijaqh6XwOvrsjMhYjjGoJWqgxhEc4rWCeU4ynPNV5CmNoEQ1DqMX8qTGqkVOvwvoKtXWOiYV92pt6VE6gLA-EjzXd72HUuZNkhJfAvkZ2R72qMC2PvUPEnQMOUw__3K74IypE-Q9I8NPKQ-F_2xnT2b_874aRDs5aMFAlK0sR3fw2cBcqDaiIiHRtO8g',
    },
    orders: {
      access_token:
        'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IkxjUHlLeFJSLUhON09NLUZfMzdCSzcyNlFWV0ZReEFRSFNmbFpYU19UaWMifQ.eyJqdGkiOiJpRVZoa2xDb3BEM3loTF9JelFSRDlTd3FGMGJXTlNmaGhNZTdYbzdzSS1IIiwic3ViIjoidXNyX1RJT0U0dlpnbmI4YllrQnFXZkZKIiwiaWF0IjoxNzk1MjkyODM2LCJleHAiOjE3OTUyOTY0MzYsInNjb3BlIjoib3BlbmlkIG9mZmxpbmVfYWNjZXNzIiwiY2xpZW50X2lkIjoiY2FyZWZ1bCIsImlzcyI6Imh0dHA6Ly9sb2NhbGhvc3Q6Mzk5OS9vYXV0aC92MS9vcmRlcnMiLCJhdWQiOiJodHRwczovL29yZGVycy5leGFtcGxlIiwibmJmIjoxNzk1MjkyODM2fQ.Eekbqd0dxHIuXtwxzS8dF3bHzWEwQDY-3XSI2o0tA5FZNpSod8UC8bf_yNjlVCXXTDmaSrPrVN1L4Kq_YCNEzw',
      refresh_token: 'mXa5AjJMC4uptfkzFwvxmzq3NzGEDmCl-RhSc7Bw8iH',
      id_token:
        'eyJhbGciOiJFUzI1NiIsImtpZCI6IkxjUHlLeFJSLUhON09NLUZfMzdCSzcyNlFWV0ZReEFRSFNmbFpYU19UaWMifQ.eyJzdWIiOiJ1c3JfVElPRTR2WmduYjhiWWtCcVdmRkoiLCJuYW1lIjoiQWRhIExvdmVsYWNlIiwiZ2l2ZW5fbmFtZSI6IkFkYSIsImZhbWlseV9uYW1lIjoiTG92ZWxhY2UiLCJ1cGRhdGVkX2F0IjoxNzk1MjkyODM2LCJlbWFpbCI6ImFkYUBleGFtcGxlLmNvbSIsImVtYWlsX3ZlcmlmaWVkIjpmYWxzZSwibm9uY2UiOiJzb21lLW5vbmNlIiwiYXVkIjoiY2FyZWZ1bCIsImV4cCI6MTc5NTI5NjQzNiwiaWF0IjoxNzk1MjkyODM2LCJpc3MiOiJodHRwOi8vbG9jYWxob3N0OjM5OTkvb2F1dGgvdjEvb3JkZXJzIn0.oOmFqPL-SGCSPvra26OmYFFjbYWejb5UkTJFb5I3O1uUQsrJ1DxFXF5O-tevEE03rNBAAjnCT31TQ-By8GY7TA',
    },
  },
} as const;
