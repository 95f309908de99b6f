import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a signed webhook with Java's standard library alone, which has no JSON: {@link Json}. Java 17 or newer. */
public final class Verify {
    private static final long TOLERANCE = 300; // seconds, in either direction
    private static final int MAX_BODY = 16 * 1024 * 1024; // bytes

    private Verify() {}

    /** The delivery is refused. The message is one of the fifteen codes. */
    public static final class VerificationException extends Exception {
        VerificationException(String code) {
            super(code);
        }
    }

    /**
     * Returns the event.
     *
     * @param rawBody the bytes as they came in
     * @param headers lines by name, as {@code com.sun.net.httpserver} and {@code java.net.http} have them
     * @param secrets eight at most
     * @param now Unix seconds
     */
    public static Map<String, Object> verify(
            byte[] rawBody, Map<String, List<String>> headers, List<String> secrets, long now)
            throws VerificationException {
        if (secrets.size() > 8) {
            throw new IllegalArgumentException("at most 8 secrets");
        }
        refuseUnless(rawBody == null || rawBody.length <= MAX_BODY, "invalid_payload");
        refuseUnless(rawBody != null && rawBody.length > 0, "missing_body");
        boolean usable = secrets.stream().allMatch(secret -> matches(secret, "whsec_[!-~]{1,506}"));
        refuseUnless(!secrets.isEmpty() && usable, "invalid_secret");
        String timestamp = header(headers, "Service-Timestamp");
        refuseUnless(matches(timestamp, "[0-9]{10}"), "invalid_timestamp");
        long signedAt = Long.parseLong(timestamp);
        refuseUnless(now >= signedAt - TOLERANCE && now <= signedAt + TOLERANCE, "stale_timestamp");
        String signature = trim(header(headers, "Service-Signature"));
        refuseUnless(!signature.isEmpty(), "missing_signature");
        refuseUnless(isSigned(signature, timestamp, rawBody, secrets), "invalid_signature");
        Json.Members event = parse(rawBody);
        check(event);
        refuseUnless(header(headers, "Service-Event-Id").equals(event.get("id")), "event_id_mismatch");
        return event;
    }

    private static void refuseUnless(boolean condition, String code) throws VerificationException {
        if (!condition) {
            throw new VerificationException(code);
        }
    }

    private static boolean matches(Object value, String pattern) {
        return value instanceof String text && text.matches(pattern);
    }

    /** Several lines of one name count as one value. */
    private static String header(Map<String, List<String>> headers, String name) {
        List<String> lines = new ArrayList<>();
        headers.forEach((key, values) -> {
            if (name.equalsIgnoreCase(key)) {
                lines.addAll(values);
            }
        });
        return String.join(", ", lines);
    }

    /** {@code String.strip} would remove other blanks, too. */
    private static String trim(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && " \t".indexOf(text.charAt(start)) >= 0) {
            start++;
        }
        while (start < end && " \t".indexOf(text.charAt(end - 1)) >= 0) {
            end--;
        }
        return text.substring(start, end);
    }

    private static boolean isSigned(String signature, String timestamp, byte[] rawBody, List<String> secrets) {
        if (signature.length() > 16384) {
            return false;
        }
        boolean found = false;
        for (String secret : secrets) {
            byte[] expected = ("v1=" + digest(secret, timestamp, rawBody)).getBytes(StandardCharsets.US_ASCII);
            for (String item : signature.split(",")) {
                // In constant time; and all are compared, whichever is right.
                found |= MessageDigest.isEqual(trim(item).getBytes(StandardCharsets.UTF_8), expected);
            }
        }
        return found;
    }

    private static String digest(String secret, String timestamp, byte[] rawBody) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
            mac.update((timestamp + ".").getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(mac.doFinal(rawBody));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible); // Every Java has HmacSHA256.
        }
    }

    private static Json.Members parse(byte[] rawBody) throws VerificationException {
        Object event;
        try {
            event = Json.read(rawBody);
        } catch (CharacterCodingException | Json.Malformed refused) {
            throw new VerificationException("invalid_json");
        }
        refuseUnless(event instanceof Json.Members, "invalid_payload");
        return (Json.Members) event;
    }

    /** The members of the envelope, in the order of the codes. Unknown members and unknown types pass. */
    private static void check(Json.Members event) throws VerificationException {
        Json.Members merchant = event.get("merchant") instanceof Json.Members members ? members : new Json.Members();
        Json.Members data = event.get("data") instanceof Json.Members members ? members : new Json.Members();
        refuseUnless(!event.repeated && !merchant.repeated && !data.repeated, "invalid_payload");
        for (String name : List.of("sequence", "resource_version")) {
            refuseUnless(event.get(name) == null || isInteger(event.get(name)), "invalid_payload");
        }
        Object livemode = event.get("livemode");
        refuseUnless(livemode == null || livemode instanceof Boolean, "invalid_payload");
        for (String name : List.of("recipient", "links")) {
            refuseUnless(event.get(name) == null || event.get(name) instanceof Map, "invalid_payload");
        }
        refuseUnless(matches(event.get("id"), "evt_[0-9A-Za-z_-]{1,124}"), "invalid_event_id");
        boolean isType = matches(event.get("type"), "(?=.{1,128}$)[a-z][a-z0-9_]*+(\\.[a-z0-9_]++)++");
        refuseUnless(isType, "invalid_event_type");
        refuseUnless(isDate(event.get("api_version")), "invalid_api_version");
        refuseUnless(isTime(event.get("created_at")), "invalid_created_at");
        boolean isMerchant = matches(merchant.get("id"), "mer_[0-9A-Za-z_-]{1,124}")
                && matches(merchant.get("slug"), "[^\\x00-\\x1f\\x7f-\\x9f]{1,128}");
        refuseUnless(isMerchant, "invalid_merchant");
        refuseUnless(data.get("object") instanceof Map, "invalid_data");
    }

    private static boolean isInteger(Object value) {
        double number = value instanceof Number some ? some.doubleValue() : -1;
        return number == Math.rint(number) && number >= 0 && number < 0x1p53;
    }

    private static boolean isDate(Object value) {
        try {
            return matches(value, "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}") && LocalDate.parse((String) value) != null;
        } catch (DateTimeException notInTheCalendar) {
            return false;
        }
    }

    private static boolean isTime(Object value) {
        return matches(value, ".{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z")
                && isDate(((String) value).substring(0, 10));
    }
}
