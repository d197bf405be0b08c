/** Roles of members in their organizations. The only SQL that writes that table and marks owners. */

/**
 * The names of a member's roles in SQL, as a JSON array: the built-in ones first, then the organization's own in alphabetical order.
 * @param m the alias of the membership's row
 */
export const rolesOfMember = (m: string): string => `(SELECT jsonb_agg(held.name ORDER BY held.place, held.name COLLATE "C") FROM (
    SELECT 0 AS place, 'owner' AS name WHERE ${m}.is_owner
    UNION ALL SELECT 1, 'admin' WHERE EXISTS (SELECT FROM roles WHERE roles.user_id = ${m}.user_id AND roles.org_id = ${m}.org_id AND roles.type = 'ORG_ADMIN')
    UNION ALL SELECT 2, 'member'
    UNION ALL SELECT 3, r.name FROM member_roles x JOIN organization_roles r ON r.org_id = x.org_id AND r.id = x.role_id
      WHERE x.org_id = ${m}.org_id AND x.user_id = ${m}.user_id) held)`;
